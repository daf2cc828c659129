import { recordManagementRead } from '../audit/access-log/record-management-read.js';
import type { Caller } from '../domain/access/caller.js';
import { visitorFields } from '../domain/access/visitor.js';
import { atMost } from '../domain/at-most.js';
import { counted } from '../domain/text.js';
import { formatTimestamp } from '../domain/time.js';
import type { AccessEntry } from '../events/access-log/access-entry.js';
import { entityRef, tokenStreamOf } from '../events/access-log/entity-ref.js';
import { accessTracePlace } from '../events/access-log/seal-entries.js';
import { openTrace, type Trace } from '../events/sealing/trace-ciphertext.js';
import type { TenantKeys } from '../keys/key-ring.js';
import type { AccessFilter } from '../ports/access-log.js';
import { orNull } from '../vault/for-tenants.js';
import { tenantKeysOf } from '../vault/tenant-keys.js';
import type { Vault } from '../vault/vault.js';
import { type ReadTokenDeps, readToken } from './read-token.js';
import type { ReadContext } from './release.js';

type ReadLogDeps = ReadTokenDeps & Pick<Vault, 'accessLog' | 'confirmReads' | 'recorder' | 'reportDamage'>;

const lastDayMs = 24 * 3_600_000;
const exportedAtOnce = 100;
/** The maximum number of tokens whose contents are in memory at the same time. */
const openedAtOnce = 4;

export type LogFilter = Pick<AccessFilter, 'entityType' | 'operation' | 'to'> & {
  readonly entityId: string | null;
  /** The reference that entries use to name an entity. It is ignored if `entityId` is set. */
  readonly entityRef?: string | null;
  /** The start of the query in ms. If it is null, the query covers the last 24 hours. */
  readonly from: number | null;
};

/** An entry with its decrypted trace. `entityId` is null if the id of the entity is not available. */
export type ShownEntry = {
  readonly entry: AccessEntry;
  readonly entityId: string | null;
  readonly trace: Trace | null;
};

type Range = { readonly offset: number; readonly limit: number };
type LogPage = { readonly total: number; readonly entries: readonly ShownEntry[] };

/**
 * Returns a page of a tenant's access log (docs/contract.md, "Access log"). The log includes everything that was
 * recorded before this request. The ids of tokens are read from live rows. The id of an ended token is therefore shown
 * only if the request filters by that id.
 */
export async function readLog(
  vault: ReadLogDeps,
  context: ReadContext,
  filter: LogFilter,
  page: Range,
): Promise<LogPage> {
  const found = await pageOf(vault, context, filter, page);
  await recordManagementRead(vault, context, 'log', null, 'access log read');
  return found;
}

/**
 * Returns the entries that match the filter, newest first, at most `max`, in pages. Records the export once, before it
 * returns the first page.
 */
export async function* exportLog(
  vault: ReadLogDeps,
  context: ReadContext,
  filter: LogFilter,
  max: number,
): AsyncIterable<readonly ShownEntry[]> {
  // If the clock was set back, there are entries with later times than the current one. They are exported first.
  const now = vault.clock.now();
  const from = filter.from ?? now - lastDayMs;
  const later = { ...filter, from: Math.max(from, now + 1) };
  const until = { ...filter, from, to: Math.min(filter.to ?? now + 1, now + 1) };
  const totalOf = async (range: LogFilter) => (await pageOf(vault, context, range, { offset: 0, limit: 1 })).total;
  const laterTotal = Math.min(await totalOf(later), max);
  const found = await totalOf(until);
  const exported = counted(Math.min(laterTotal + found, max), 'entry', 'entries');
  await recordManagementRead(vault, context, 'log', null, `access log exported: ${exported}`);
  // The export excludes entries that are recorded after it begins. Otherwise, they would shift existing entries from one
  // page to the next. Among the later entries, the new ones come last. Among the others, they come first, and only those
  // from the millisecond in which the export began.
  yield* pagesOf(vault, context, later, 0, laterTotal);
  const added = Math.max((await totalOf(until)) - found, 0);
  yield* pagesOf(vault, context, until, added, Math.min(found, max - laterTotal));
}

async function* pagesOf(vault: ReadLogDeps, context: ReadContext, range: LogFilter, skipped: number, total: number) {
  for (let read = 0; read < total; read += exportedAtOnce) {
    const limit = Math.min(exportedAtOnce, total - read);
    yield (await pageOf(vault, context, range, { offset: skipped + read, limit })).entries;
  }
}

async function pageOf(
  vault: ReadLogDeps,
  { caller, beganAt }: ReadContext,
  filter: LogFilter,
  page: Range,
): Promise<LogPage> {
  const tenantKeys = await tenantKeysOf(vault, caller.tenantId);
  await vault.recorder.now([]);
  const { entityType, entityId, entityRef: givenRef = null, operation, to } = filter;
  const now = vault.clock.now();
  const ref = entityId === null ? givenRef : entityRef(tenantKeys.names, entityId);
  const asked = { entityType, entityRef: ref, operation, from: filter.from ?? now - lastDayMs, to };
  const { total, entries } = await vault.accessLog.query(caller.tenantId, asked, page);
  const ids = await livingIds(vault, caller, entries, entityId === null || ref === null ? null : { id: entityId, ref });
  await vault.confirmReads(beganAt);
  return {
    total,
    entries: entries.map((entry) => ({
      entry,
      entityId: entry.entityId ?? (entry.entityRef === null ? null : (ids.get(entry.entityRef) ?? null)),
      trace: traceOf(tenantKeys, entry),
    })),
  };
}

/**
 * Returns a map from entity references to token ids. If the request filters by an id, the map contains only that id.
 * Otherwise, it contains the ids of the live tokens in `entries`. Leaves out a token whose row or key is damaged. Threat:
 * an attacker changes the row of one token, so that the evidence about all tokens can no longer be read.
 */
async function livingIds(
  vault: ReadTokenDeps & Pick<Vault, 'reportDamage'>,
  { tenantId }: Caller,
  entries: readonly AccessEntry[],
  asked: { readonly id: string; readonly ref: string } | null,
): Promise<ReadonlyMap<string, string>> {
  if (asked !== null) return new Map([[asked.ref, asked.id]]);
  const refs = new Set(
    entries.flatMap(({ entityType, entityRef: ref }) => (entityType === 'token' ? (ref ?? []) : [])),
  );
  // Threat: a caller delays other requests with expensive pages of the log. The id of each token is part of its
  // content, which can be 512 KiB long. Decrypting a hundred tokens without pauses would delay other requests by a
  // fifth of a second.
  const slices = vault.turns.begin(tenantId);
  const found = await atMost(openedAtOnce, [...refs], async (ref): Promise<readonly [string, string][]> => {
    await slices.pause();
    const token = await orNull(vault, () => readToken(vault, tenantId, tokenStreamOf(ref)));
    return token === null ? [] : [[ref, token.open.id]];
  });
  return new Map(found.flat());
}

function traceOf({ audit }: TenantKeys, { tenantId, trace, tracePlace, traceIndex }: AccessEntry): Trace | null {
  if (trace === null) return null;
  return openTrace(audit, trace, { tenantId, ...(tracePlace ?? accessTracePlace) }, traceIndex);
}

/** Returns an entry as it appears in API responses and exports. Omits fields without a value. */
export function logEntryAnswer({ entry, entityId, trace }: ShownEntry): Readonly<Record<string, string>> {
  const { keyId, sourceAddress, entityRef: ref } = entry;
  return {
    tenant_id: entry.tenantId,
    actor_id: entry.actorId,
    actor_type: entry.actorType,
    ...(keyId === null ? {} : { key_id: keyId }),
    ...(sourceAddress === null ? {} : { source_address: sourceAddress }),
    entity_type: entry.entityType,
    ...(entityId === null ? {} : { entity_id: entityId }),
    ...(ref === null ? {} : { entity_ref: ref }),
    operation: entry.operation,
    outcome: entry.outcome,
    message: entry.message,
    ...(trace === null ? {} : { trace_id: trace.traceId, ...visitorFields(trace.visitor) }),
    created_at: formatTimestamp(entry.time),
  };
}
