import { z } from 'zod';
import { recordAccessLogRead } from '../../audit/access-log/record-for-all-tenants.js';
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

/** An access log entry as a record with named columns. No column contains text that a client wrote. */
export type AuditRecord = { readonly [Column in (typeof recordColumns)[number]]: string | null };

type EntryColumns = Omit<AuditRecord, 'record_id'>;

const batchesMax = 100;

/**
 * If `begins` is true, records that an operator reads the access log. `unrecorded` is a message about the tenants whose
 * access log could not record it, or null. Flushes pending records. Then returns the vault's current time and a list of
 * access log chains, each with the sequence number of its newest batch. The list contains every chain that has grown
 * since the beginning of the month that contains the time `since` (in ms). Throws OperationFailed if no tenant with the
 * id `tenant` has ever existed.
 */
export const auditChains = operation(
  z.object({ since: z.int().min(0), tenant: z.string().nullable(), begins: z.boolean() }),
  async ({ vault }, { since, tenant, begins }) => {
    // A forged row must not prevent an export of the evidence.
    if (tenant !== null && !(await vault.directory.check('tenant')).some(({ record }) => record.id === tenant)) {
      throw new OperationFailed('there is no such tenant. Run `strongroom tenants list` to see all tenants.');
    }
    const unrecorded = begins ? await recordAccessLogRead(vault, tenant) : null;
    await vault.recorder.now([]);
    const now = vault.clock.now();
    const heads = await vault.accessLog.heads(since);
    return {
      log_id: (await logIdentity(vault.log))?.logId ?? '',
      now,
      chains: heads.map(({ chain, sequence }) => ({ chain, sequence })),
      unrecorded,
    };
  },
);

const filter = z.object({
  /** The id of the tenant whose records match. Null matches every tenant. */
  tenant: z.string().nullable(),
  /** The period in which the matching records were written, from `from` (inclusive) to `to` (exclusive), in ms. */
  from: z.int().nullable(),
  to: z.int().nullable(),
});

export type RecordFilter = z.output<typeof filter>;

/**
 * Returns the matching records from the batches that follow the batch `after` in a chain. `first` and `last` are the
 * sequence numbers of the first and the last batch that were read, or null if the chain has no more batches. A record
 * never contains a token's id, only the keyed hash of the id.
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
 * Returns the named columns of an access log entry. `record_id` is not included, because it depends on the entry's
 * place in its chain.
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
