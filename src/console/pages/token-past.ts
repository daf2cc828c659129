import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { recordManagementRead } from '../../audit/access-log/record-management-read.js';
import type { JsonObject } from '../../domain/json.js';
import { parseIsoDateTime } from '../../domain/time.js';
import { endsToken } from '../../events/tokens/catalogue.js';
import { tokenStream } from '../../events/tokens/stream-name.js';
import { rangeOf } from '../../http/pagination.js';
import { problemFrom } from '../../http/problem/problem.js';
import { readAsOf } from '../../queries/as-of.js';
import { replayToken } from '../../queries/replay-token.js';
import { stateErasure } from '../../queries/state-erasure.js';
import { type HistoryType, tokenHistory } from '../../queries/token-history.js';
import { tenantKeysOf } from '../../vault/tenant-keys.js';
import type { ConsolePage, Visit } from '../page.js';
import { pageLinks, pageNumber } from '../pagination.js';
import { ConsoleProblem } from '../problem.js';
import { released, sheetOf, tokenPath } from '../token-sheet.js';

const pageSize = 20;
const ofHistory = {
  session: ['management', 'private'],
  permission: ['log:read', 'token:read'],
  shows: 'token',
} as const;

const moment = z.object({ at: z.string().max(100).default('') });

/** Shows the history of a token, its state at an earlier time, and how its life ended. */
export const tokenPastPage: ConsolePage = {
  routes: [
    { method: 'GET', path: '/tokens/:id/history', ...ofHistory, handle: showHistory },
    { method: 'GET', path: '/tokens/:id/as-of', session: 'private', permission: 'token:read', handle: showEarlier },
    { method: 'GET', path: '/tokens/:id/erasure', ...ofHistory, handle: (visit) => showErasure(visit, null) },
    // `stateErasure` records that the history was read, even if the response is the page with status 409.
    { method: 'POST', path: '/tokens/:id/erasure', ...ofHistory, shows: null, handle: sendStatement },
  ],
};

async function showHistory(visit: Visit): Promise<FastifyReply> {
  const id = visit.param('id');
  const page = { page: pageNumber(visit), size: pageSize };
  const history = await tokenHistory(visit.vault, visit.context, id, rangeOf(page));
  if (!history.ok) throw problemFrom(history);
  const { entries, total } = history.value;
  const path = tokenPath(id);
  const links = pageLinks(page, total);
  const mayReplay = visit.contextAs('private') !== null;
  const model = { id, path, links, entries: entries.map((entry) => rowOf(entry, path)), mayReplay };
  return visit.page('tokens/history', model, { title: 'History of a token' });
}

const events: Readonly<Record<string, { readonly text: string; readonly tone: string }>> = {
  'token.created': { text: 'Created', tone: 'good' },
  'token.updated': { text: 'Updated', tone: 'accent' },
  'token.deleted': { text: 'Deleted', tone: 'bad' },
  'token.expired': { text: 'Expired', tone: 'bad' },
  'token.property.expired': { text: 'Code purged', tone: 'warn' },
} satisfies Record<HistoryType, { readonly text: string; readonly tone: string }>;

function rowOf(entry: JsonObject, path: string) {
  const { type, created_at: createdAt, changed, life = null, person = null, person_issuer: issuer = null } = entry;
  const { text, tone } = events[String(type)] ?? { text: String(type), tone: 'accent' };
  const isEnd = endsToken(String(type));
  return {
    text,
    tone,
    createdAt: String(createdAt),
    life,
    person,
    issuer,
    actor: String(entry['actor_id']),
    revision: entry['revision'],
    traceId: entry['trace_id'] ?? null,
    changed: Array.isArray(changed) ? changed.map(String) : [],
    asOf: isEnd ? null : `${path}/as-of?at=${encodeURIComponent(fieldOf(String(createdAt)))}`,
  };
}

/** Formats a timestamp for a date and time field. The result is in UTC and has no offset. */
function fieldOf(timestamp: string): string {
  return timestamp.slice(0, 23);
}

/**
 * Shows the masked token as it was at an earlier time. The caller must have permission to see the token both in its
 * earlier state and in its current state. If the token has changed since then, the caller must be allowed to see it in
 * plaintext.
 */
async function showEarlier(visit: Visit): Promise<FastifyReply> {
  const { vault, context } = visit;
  const id = visit.param('id');
  const at = visit.query(moment).at.trim();
  const model = {
    id,
    path: tokenPath(id),
    at: '',
    error: null,
    token: null,
    erased: null,
    isNone: false,
    asked: null,
    isWithheld: false,
  };
  const options = { title: 'Earlier state of a token' };
  if (at === '') return visit.page('tokens/as-of', model, options);
  // This page does not accept log positions. Threat: a tenant infers other tenants' activity from positions. Only
  // operators may see positions.
  const read = /^\d*$/.test(at) ? null : await readAsOf(vault, at);
  if (read === null || !read.ok) {
    const error =
      parseIsoDateTime(at) === null
        ? 'Enter a date and time, such as 2026-01-31T12:00.'
        : 'This time is in the future.';
    return visit.page('tokens/as-of', { ...model, at, error }, { ...options, status: 400 });
  }
  const { asOf } = read;
  const stream = tokenStream((await tenantKeysOf(vault, context.caller.tenantId)).names, id);
  const replayed = await replayToken(vault, context, stream, { asOf, reveal: false });
  const shown = { ...model, at: fieldOf(new Date(asOf.time).toISOString()), asked: asOf.time };
  if (replayed.kind === 'forbidden') throw problemFrom({ ok: false, code: 'forbidden' });
  if (replayed.kind === 'withheld')
    return visit.page('tokens/as-of', { ...shown, isWithheld: true }, { ...options, status: 403 });
  if (replayed.kind === 'none') return visit.page('tokens/as-of', { ...shown, isNone: true }, options);
  if (replayed.kind === 'erased') {
    await recordManagementRead(vault, context, 'token', id);
    return visit.page('tokens/as-of', { ...shown, erased: erasedOf(replayed.body) }, options);
  }
  return visit.page('tokens/as-of', { ...shown, token: sheetOf(await released(visit, replayed.answer)) }, options);
}

function erasedOf({ type, created_at: createdAt, created_by: createdBy }: JsonObject) {
  return { type: String(type), createdAt: String(createdAt), createdBy: String(createdBy) };
}

/**
 * Shows how the life of a token ended. `problem` is the reason why the vault cannot make a requested statement of
 * erasure. It is null if the person has not requested a statement.
 */
async function showErasure(visit: Visit, problem: string | null): Promise<FastifyReply> {
  const id = visit.param('id');
  const history = await tokenHistory(visit.vault, visit.context, id, { offset: 0, limit: 1 });
  if (!history.ok) throw problemFrom(history);
  const [last] = history.value.entries;
  const row = last === undefined ? null : rowOf(last, tokenPath(id));
  const isEnded = row !== null && row.asOf === null;
  const { isOperator } = visit.session;
  const model = { id, path: tokenPath(id), row, isEnded, isOperator, problem };
  return visit.page('tokens/erasure', model, { title: 'Erasure of a token', status: problem === null ? 200 : 409 });
}

/**
 * Sends the signed statement of erasure. As on the command line, this requires an operator. In addition, the session's
 * caller must have permission to read the token's history. Threat: a tenant learns from the statement how many search
 * terms all tenants have in total. Threat: a tenant requests many statements to overload the vault, because each
 * statement requires reading all search terms.
 */
async function sendStatement(visit: Visit): Promise<FastifyReply> {
  if (!visit.session.isOperator) throw new ConsoleProblem('not_opened');
  const stated = await stateErasure(visit.vault, visit.context, visit.param('id'));
  if (!stated.ok) throw problemFrom(stated);
  const { value } = stated;
  if (value.kind !== 'erased') return showErasure(visit, value.problem);
  return visit.file(
    'erasure-statement.json',
    'application/json; charset=utf-8',
    `${JSON.stringify(value.statement, null, 2)}\n`,
  );
}
