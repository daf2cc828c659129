import { z } from 'zod';
import { formatTimestamp } from '../../domain/time.js';
import type { AccessEntry } from '../../events/access-log/access-entry.js';
import { logIdentity } from '../../vault/open-log.js';
import { operation } from '../operations/operation.js';

/** The columns of a record, in the order in which they are written. */
export const recordColumns = [
  'record_id',
  'created_at',
  'tenant_id',
  'actor_type',
  'actor_id',
  'key_id',
  'source_address',
  'operation',
  'outcome',
  'entity_type',
  'entity_ref',
  'entity_id',
  'message',
] as const;

/** An entry of the access log with named columns. Nothing in it is text that a client wrote. */
export type AuditRecord = { readonly [Column in (typeof recordColumns)[number]]: string | null };

const batchesMax = 100;

/**
 * Returns the chains of the access log that have grown in the month of `since` (ms) or later, with their newest batch,
 * and the time of the vault. Includes everything that was recorded before.
 */
export const auditChains = operation(z.object({ since: z.int().min(0) }), async ({ vault }, { since }) => {
  await vault.recorder.now([]);
  const now = vault.clock.now();
  const heads = await vault.accessLog.heads(since);
  return {
    log_id: (await logIdentity(vault.log))?.logId ?? '',
    now,
    chains: heads.map(({ chain, sequence }) => ({ chain, sequence })),
  };
});

const filter = z.object({
  /** Null matches every tenant. */
  tenant: z.string().nullable(),
  /** Records at or after this moment, and before that one (ms). */
  from: z.int().nullable(),
  to: z.int().nullable(),
});

export type RecordFilter = z.output<typeof filter>;

/**
 * Returns the records of the next batches of a chain after a sequence. `first` and `last` are the sequences of these
 * batches, or null if there is none. The id of a token is not in a record, only its keyed hash.
 */
export const auditRecords = operation(
  z.object({ chain: z.string(), after: z.int().min(0), filter }),
  async ({ vault }, { chain, after, filter: { tenant, from, to } }) => {
    const batches = await vault.accessLog.batches(chain, after, batchesMax);
    const records = batches.flatMap(({ sequence, entries }) =>
      entries.flatMap((entry, index): AuditRecord[] => {
        const { tenantId, time } = entry;
        if (tenant !== null && tenantId !== tenant) return [];
        if ((from !== null && time < from) || (to !== null && time >= to)) return [];
        return [recordOf(entry, `${chain}/${sequence}/${index}`)];
      }),
    );
    return { first: batches[0]?.sequence ?? null, last: batches.at(-1)?.sequence ?? null, records };
  },
);

/** Returns an entry with named columns. `recordId` is null where its place in a chain is not known. */
export function recordOf(entry: AccessEntry, recordId: string | null): AuditRecord {
  return {
    record_id: recordId,
    created_at: formatTimestamp(entry.time),
    tenant_id: entry.tenantId,
    actor_type: entry.actorType,
    actor_id: entry.actorId,
    key_id: entry.keyId,
    source_address: entry.sourceAddress,
    operation: entry.operation,
    outcome: entry.outcome,
    entity_type: entry.entityType,
    entity_ref: entry.entityRef,
    entity_id: entry.entityId,
    message: entry.message,
  };
}
