import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { accessEntities, accessOperations } from '../../audit/access-log/operation.js';
import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import { csvLine } from '../../audit/csv-line.js';
import { rangeOf } from '../../http/pagination.js';
import { exportLog, type LogFilter, logEntryAnswer, readLog, type ShownEntry } from '../../queries/read-log.js';
import { orNull } from '../../vault/for-tenants.js';
import { livingApplication } from '../../vault/open-directory.js';
import type { ConsolePage, Visit } from '../page.js';
import { pageField, pageLinks } from '../pagination.js';
import { firstErrors, validForm } from '../typed-form.js';
import { parseTypedTime } from '../typed-time.js';

const pageSize = 25;
/** The maximum number of entries in an export. Without this limit, one click could occupy the vault for minutes. */
const exportedMax = 50_000;
const idMax = 1_000;

const anyOf = <const Word extends string>(words: readonly Word[]) =>
  z.enum(words).or(z.literal('').transform(() => null));

const time = z.string().transform((given, context) => {
  if (given.trim() === '') return null;
  const ms = parseTypedTime(given);
  if (ms === null)
    context.addIssue({ code: 'custom', message: 'must be a date or a date-time, such as 2026-01-31 12:00' });
  return ms;
});

const filterFields = {
  operation: anyOf(accessOperations).default(null),
  entity_type: anyOf(accessEntities).default(null),
  entity_id: z
    .string()
    .max(idMax, { error: `must have at most ${idMax} characters` })
    .default(''),
  entity_ref: z
    .string()
    .trim()
    .max(idMax, { error: `must have at most ${idMax} characters` })
    .default(''),
  from: time.default(null),
  to: time.default(null),
};

/**
 * Returns true if the interval ends after it begins, or if it is open at either end. No entry could match any other
 * interval.
 */
const isInterval = ({ from, to }: { readonly from: number | null; readonly to: number | null }) =>
  from === null || to === null || from < to;
const afterStart = { path: ['to'], error: 'must be after the start' };

const filterForm = z
  .object({
    ...filterFields,
    page: pageField,
  })
  .refine(isInterval, afterStart);

const exportForm = z.object({ ...filterFields, format: z.enum(['csv', 'jsonl']) }).refine(isInterval, afterStart);

/** The fields of the form, as a person typed them. */
type Typed = Readonly<Record<keyof typeof filterFields, string>>;

/**
 * Shows the tenant's access log. The form sends its filter with POST, because a token's id can be personal data and the
 * browser's history stores URLs.
 */
export const accessLogPage: ConsolePage = {
  menu: { label: 'Access log', group: 'Access' },
  routes: [
    {
      method: 'GET',
      path: '/logs',
      session: ['management', 'private'],
      permission: 'log:read',
      handle: showFiltered,
    },
    {
      method: 'POST',
      path: '/logs',
      session: ['management', 'private'],
      permission: 'log:read',
      handle: async (visit) => visit.redirectToResult() ?? showFiltered(visit),
    },
    {
      method: 'POST',
      path: '/logs/export',
      session: ['management', 'private'],
      permission: 'log:read',
      handle: exportEntries,
    },
  ],
};

async function showFiltered(visit: Visit): Promise<FastifyReply> {
  const typed = typedIn(visit);
  const asked = visit.form(filterForm);
  const model = {
    typed,
    operations: accessOperations,
    entities: accessEntities,
    fields: Object.entries(typed),
    isFiltered: Object.values(typed).some((text) => text !== ''),
    exportedMax,
    isRejected: !asked.ok,
    errors: firstErrors(asked.ok ? {} : asked.errors, ['entity_id', 'entity_ref', 'from', 'to']),
  };
  if (!asked.ok) {
    const shown = { entries: [], links: pageLinks({ page: 1, size: pageSize }, 0) };
    return visit.page('access-log', { ...model, ...shown }, { title: 'Access log', status: 400 });
  }
  const page = { page: asked.value.page, size: pageSize };
  const { total, entries } = await readLog(visit.vault, visit.context, filterOf(asked.value), rangeOf(page));
  const links = linksOf(visit);
  const names = await namesIn(visit, entries);
  const shown = {
    entries: entries.map((entry) => rowOf(entry, links, names)),
    links: pageLinks(page, total),
  };
  return visit.page('access-log', { ...model, ...shown }, { title: 'Access log' });
}

function typedIn({ fields }: Visit): Typed {
  const text = (field: string): string => (typeof fields[field] === 'string' ? fields[field] : '');
  return {
    operation: text('operation'),
    entity_type: text('entity_type'),
    entity_id: text('entity_id'),
    entity_ref: text('entity_ref'),
    from: text('from'),
    to: text('to'),
  };
}

type Filter = Omit<z.output<typeof filterForm>, 'page'>;

function filterOf({ operation, entity_type: entityType, entity_id: id, entity_ref: ref, from, to }: Filter): LogFilter {
  return { operation, entityType, entityId: id === '' ? null : id, entityRef: ref === '' ? null : ref, from, to };
}

/** Returns the path to the page of an entity, or null if the session may not access that page. */
type Links = (entityType: string, id: string | null) => string | null;

function linksOf({ contextAs }: Visit): Links {
  const mayOpen: Readonly<Record<string, boolean>> = {
    token: contextAs('private', 'token:read') !== null,
    application: contextAs('management', 'application:read') !== null,
    webhook: contextAs('management', 'webhook:read') !== null,
  };
  return (entityType, id) =>
    id !== null && mayOpen[entityType] === true ? `/${entityType}s/${encodeURIComponent(id)}` : null;
}

/**
 * Returns the names of the live applications that the entries mention, by id. Threat: a person who may read only the
 * log learns the names of applications. The page therefore shows names only if the session may read applications
 * through the API, and records in the access log that they were read.
 */
async function namesIn(visit: Visit, entries: readonly ShownEntry[]): Promise<ReadonlyMap<string, string>> {
  const context = visit.contextAs('management', 'application:read');
  if (context === null) return new Map();
  const ids = new Set(
    entries.flatMap(({ entry: { actorType, actorId, entityType }, entityId }) => [
      ...(actorType === 'application' ? [actorId] : []),
      ...(entityType === 'application' && entityId !== null ? [entityId] : []),
    ]),
  );
  const found = [...ids].map(async (id): Promise<readonly (readonly [string, string])[]> => {
    const application = await orNull(visit.vault, () => livingApplication(visit.vault, context.caller.tenantId, id));
    return application === null ? [] : [[id, application.document.name]];
  });
  const names = new Map((await Promise.all(found)).flat());
  if (names.size > 0) await recordManagementRead(visit.vault, context, 'application', null);
  return names;
}

/** Returns the fields that the table shows for an access log entry. */
function rowOf({ entry, entityId, trace }: ShownEntry, pathOf: Links, names: ReadonlyMap<string, string>) {
  const {
    time: at,
    actorId,
    actorType,
    operation,
    outcome,
    entityType,
    entityRef,
    message,
    keyId,
    sourceAddress,
  } = entry;
  return {
    at,
    actorId,
    actorType,
    operation,
    outcome,
    entityType,
    entityRef,
    entityId,
    message,
    keyId,
    sourceAddress,
    actorName: actorType === 'application' ? (names.get(actorId) ?? null) : null,
    entityName: entityType === 'application' && entityId !== null ? (names.get(entityId) ?? null) : null,
    actorPath: pathOf(actorType, actorId),
    entityPath: pathOf(entityType, entityId),
    traceId: trace?.traceId ?? null,
    person: trace?.visitor?.name ?? null,
    issuer: trace?.visitor?.issuer ?? null,
    reason: trace?.visitor?.reason ?? null,
  };
}

const columns = [
  'created_at',
  'actor_type',
  'actor_id',
  'person',
  'person_issuer',
  'reason',
  'key_id',
  'source_address',
  'operation',
  'outcome',
  'entity_type',
  'entity_ref',
  'entity_id',
  'message',
  'trace_id',
] as const;

/** Sends a file with the entries that match the filter, newest entry first. */
async function exportEntries(visit: Visit): Promise<FastifyReply> {
  const { format, ...filter } = validForm(visit, exportForm);
  const isCsv = format === 'csv';

  async function* lines(): AsyncIterable<string> {
    if (isCsv) yield csvLine([...columns]);
    for await (const entries of exportLog(visit.vault, visit.context, filterOf(filter), exportedMax)) {
      if (entries.length > 0) yield entries.map((entry) => lineOf(entry, isCsv)).join('');
    }
  }

  const type = isCsv ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8';
  return visit.file(`access-log.${format}`, type, () => Readable.from(lines(), { objectMode: false }));
}

function lineOf(entry: ShownEntry, isCsv: boolean): string {
  const record = logEntryAnswer(entry);
  const fields = columns.map((column) => record[column] ?? null);
  if (isCsv) return csvLine(fields);
  return `${JSON.stringify(Object.fromEntries(columns.map((column, index) => [column, fields[index]])))}\n`;
}
