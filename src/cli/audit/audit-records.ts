import { z } from 'zod';
import { formatTimestamp } from '../../domain/time.js';
import type { AccessEntry } from '../../events/access-log/access-entry.js';
import { logIdentity } from '../../vault/open-log.js';
import { OperationFailed, operation } from '../operations/operation.js';

/** The columns of a record, in output order. */
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

/** An access log entry with named columns. No column contains text that a client wrote. */
export type AuditRecord = { readonly [Column in (typeof recordColumns)[number]]: string | null };

type EntryColumns = Omit<AuditRecord, 'record_id'>;

const batchesMax = 100;

/**
 * Returns the vault's current time and a list of access log chains, each with the sequence number of its newest batch.
 * The list contains every chain that has grown since the start of the month that contains `since` (ms). Flushes pending
 * records first. Throws OperationFailed if `tenant` has never existed.
 */
export const auditChains = operation(
  z.object({ since: z.int().min(0), tenant: z.string().nullable() }),
  async ({ vault }, { since, tenant }) => {
    if (tenant !== null && !(await vault.directory.list('tenant')).some(({ id }) => id === tenant)) {
      throw new OperationFailed('there is no such tenant; `strongroom tenants list` shows them all.');
    }
    await vault.recorder.now([]);
    const now = vault.clock.now();
    const heads = await vault.accessLog.heads(since);
    return {
      log_id: (await logIdentity(vault.log))?.logId ?? '',
      now,
      chains: heads.map(({ chain, sequence }) => ({ chain, sequence })),
    };
  },
);

const filter = z.object({
  /** Null matches every tenant. */
  tenant: z.string().nullable(),
  /** Selects records from `from` (inclusive) to `to` (exclusive), in ms. */
  from: z.int().nullable(),
  to: z.int().nullable(),
});

export type RecordFilter = z.output<typeof filter>;

/**
 * Returns the records from the next batches of a chain, after the batch with the sequence number `after`. `first` and
 * `last` are the sequence numbers of the first and the last batch in this step, or null if there are no more batches. A
 * record contains the keyed hash of a token's id, never the id.
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
        return [{ record_id: `${chain}/${sequence}/${index}`, ...columnsOf(entry) }];
      }),
    );
    return { first: batches[0]?.sequence ?? null, last: batches.at(-1)?.sequence ?? null, records };
  },
);

/**
 * Returns the named columns of an access log entry, except `record_id`, which depends on the entry's place in its
 * chain.
 */
export function columnsOf(entry: AccessEntry): EntryColumns {
  return {
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
