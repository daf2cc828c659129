import type { Filter } from 'mongodb';
import type { AccessEntry, NewAccessEntry } from '../../../events/access-log/access-entry.js';
import { batchHash, noBatch } from '../../../events/access-log/batch-hash.js';
import { sealEntries } from '../../../events/access-log/seal-entries.js';
import type { AccessFilter, AccessLog, AccessPage } from '../../../ports/access-log.js';
import { type Month, monthOf } from '../../shared/month.js';
import { batcher } from '../batcher.js';
import type { MongoConnection } from '../connection.js';
import { ensureIndexes } from '../required-indexes.js';
import { countBy, readSnapshot } from '../snapshot-reading.js';
import { accessBatches, accessChains, accessHeads } from './access-chains.js';
import { accessCollection, accessIndexes, accessIndexNames, monthsStored } from './access-collections.js';
import { accessCounts } from './access-counts.js';
import { batchesOf, type NewBatch } from './batches-of.js';
import { type EntryDocument, entryDocument, entryOf } from './entry-document.js';
import { entryKey, newChain } from './entry-key.js';

/** Implements `AccessLog` with one collection per month. Each process appends to its own chain. */
export function mongoAccessLog(connection: MongoConnection): AccessLog & { close(): Promise<void> } {
  const writer = createAccessWriter(connection);
  return {
    record: writer.record,
    query: (tenantId, filter, page) => queryAccess(connection, tenantId, filter, page),
    chains: () => accessChains(connection),
    batches: (chain, afterSequence, limit) => accessBatches(connection, chain, afterSequence, limit),
    counts: (chain, afterSequence, upTo) => accessCounts(connection, chain, afterSequence, upTo),
    heads: (since) => accessHeads(connection, monthOf(since)),
    missing: null,
    async dropMonths(before) {
      const months = (await connection.call(monthsStored)).filter((month) => month < monthOf(before));
      let dropped = 0;
      for (const month of months) {
        // If another process has already dropped the collection, `dropCollection` returns false.
        if (await connection.call((db) => db.dropCollection(accessCollection(month)))) dropped += 1;
      }
      if (months.length > 0) writer.forgetMonths();
      return dropped;
    },
    close: writer.close,
  };
}

type ChainHead = { readonly chain: string; readonly sequence: number; readonly hash: Uint8Array };

/**
 * Creates a writer that has its own chain in the access log. The writer stores concurrent entries as one batch. After a
 * failure, it is unknown how much of the batch was stored, so the writer begins a new chain.
 */
function createAccessWriter({ call }: MongoConnection) {
  const withIndexes = new Set<Month>();
  let head = noHead();

  async function append(batch: NewBatch): Promise<void> {
    const { month, entries, lines } = batch;
    const sequence = head.sequence + 1;
    const hash = batchHash(head.hash, sequence, lines);
    const link = { previous: Buffer.from(head.hash), hash };
    const documents = entries.map((entry, number) =>
      entryDocument(
        entryKey({ chain: head.chain, sequence, number }),
        entry,
        number === entries.length - 1 ? link : null,
      ),
    );
    if (!withIndexes.has(month)) {
      await call((db) => ensureIndexes(db, [accessIndexes(month)]));
      withIndexes.add(month);
    }
    // Inserts the entries in order. The last entry closes the batch, so it must not be stored if any other entry is
    // missing.
    await call((db) => db.collection<EntryDocument>(accessCollection(month)).insertMany(documents, { ordered: true }));
    head = { chain: head.chain, sequence, hash };
  }

  const groups = batcher<readonly AccessEntry[], void>(async (group) => {
    try {
      for (const batch of batchesOf(group.flat())) await append(batch);
    } catch (error) {
      head = noHead();
      throw error;
    }
    return [];
  });

  return {
    async record(entries: readonly NewAccessEntry[]): Promise<void> {
      if (entries.length > 0) await groups.add(sealEntries(entries));
    },
    /**
     * Clears the cached list of months whose indexes have been created. Call this after collections of past months have
     * been dropped.
     */
    forgetMonths: (): void => withIndexes.clear(),
    /** Resolves when no more appends are pending. */
    close: groups.idle,
  };
}

function noHead(): ChainHead {
  return { chain: newChain(), sequence: 0, hash: noBatch };
}

/**
 * Returns a page of a tenant's entries across all months, newest first, and the exact total. Both are read from the
 * same snapshot.
 */
async function queryAccess(
  connection: MongoConnection,
  tenantId: string,
  filter: AccessFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<AccessPage> {
  const stored = await connection.call(monthsStored);
  const [first, last] = [monthOf(filter.from), filter.to === null ? null : monthOf(filter.to)];
  const months = stored.filter((month) => month >= first && (last === null || month <= last)).reverse();
  const where = conditionsOf(tenantId, filter);
  const hint = filter.entityRef === null ? accessIndexNames.time : accessIndexNames.ref;

  return readSnapshot(connection, 'access_log_query_too_long', async (db, options) => {
    let total = 0;
    const entries: AccessEntry[] = [];
    for (const month of months) {
      const collection = accessCollection(month);
      const count = await countBy(db, collection, where, { ...options(), hint });
      const skipped = Math.max(0, offset - total);
      total += count;
      if (count <= skipped || entries.length >= limit) continue;
      const page = db
        .collection<EntryDocument>(collection)
        .find(where as Filter<EntryDocument>, { ...options(), hint })
        .sort({ time: -1, _id: -1 })
        .skip(skipped)
        .limit(limit - entries.length);
      entries.push(...(await page.toArray()).map(entryOf));
    }
    return { total, entries };
  });
}

function conditionsOf(tenantId: string, { entityType, entityRef, operation, from, to }: AccessFilter) {
  return {
    tenant: tenantId,
    ...(entityRef === null ? {} : { ref: Buffer.from(entityRef, 'hex') }),
    time: { $gte: from, ...(to === null ? {} : { $lt: to }) },
    ...(operation === null ? {} : { operation }),
    ...(entityType === null ? {} : { type: entityType }),
  };
}
