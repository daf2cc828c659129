import type { AccessBatch, AccessEntry } from '../../../events/access-log/access-entry.js';
import type { AccessHead } from '../../../ports/access-log.js';
import type { Month } from '../../shared/month.js';
import type { MongoConnection } from '../connection.js';
import { accessCollection, monthsStored } from './access-collections.js';
import { type EntryDocument, entryOf } from './entry-document.js';
import { afterAll, afterBatch, beforeAll, entryPlace, isChain } from './entry-key.js';

/** Once a result contains this many entries, no more batches are added to it. */
const entriesMax = 20_000;

type StoredBatch = { readonly sequence: number; readonly entries: AccessEntry[]; link: EntryDocument['batch'] };
type Found = { readonly batches: readonly AccessBatch[]; readonly isAll: boolean };

/** Returns every chain that has an entry, oldest first. For each month, performs about one index lookup per chain. */
export async function accessChains({ call }: MongoConnection): Promise<readonly string[]> {
  const chains = new Set<string>();
  for (const month of await call(monthsStored)) for (const chain of await chainsOf(call, month)) chains.add(chain);
  return [...chains].sort();
}

async function chainsOf(call: MongoConnection['call'], month: Month): Promise<readonly string[]> {
  const chains: string[] = [];
  for (let after: Buffer | null = beforeAll; after !== null; ) {
    const above: Buffer = after;
    const next = await call((db) =>
      db
        .collection<EntryDocument>(accessCollection(month))
        .findOne({ _id: { $gt: above, $lte: afterAll } }, { sort: { _id: 1 }, projection: { _id: 1 } }),
    );
    const chain: string | null = next === null ? null : entryPlace(next._id).chain;
    if (chain !== null) chains.push(chain);
    after = chain === null ? null : afterBatch(chain);
  }
  return chains;
}

/**
 * Returns the newest closed batch of each chain that has a closed batch in the month `from` or later. For each month,
 * performs about two index lookups per chain.
 */
export async function accessHeads({ call }: MongoConnection, from: Month): Promise<readonly AccessHead[]> {
  const heads = new Map<string, AccessHead>();
  for (const month of (await call(monthsStored)).filter((stored) => stored >= from)) {
    for (const chain of await chainsOf(call, month)) {
      const head = await newestOf(call, month, chain);
      if (head !== null && head.sequence > (heads.get(chain)?.sequence ?? 0)) heads.set(chain, head);
    }
  }
  return [...heads.values()];
}

/**
 * Returns the newest closed batch of a chain in a month. Skips a batch that is not closed: it was never acknowledged,
 * and it is the last batch of its chain.
 */
async function newestOf(call: MongoConnection['call'], month: Month, chain: string): Promise<AccessHead | null> {
  const range = { $gt: afterBatch(chain, 0), $lte: afterBatch(chain) };
  const closing = await call((db) =>
    db
      .collection<EntryDocument>(accessCollection(month))
      .findOne({ _id: range, batch: { $exists: true } }, { sort: { _id: -1 } }),
  );
  if (closing?.batch === undefined) return null;
  return { chain, sequence: entryPlace(closing._id).sequence, hash: closing.batch.hash };
}

/**
 * Returns batches from a chain in order. Reads the collections of all months, because a late entry is stored in the
 * collection of an earlier month.
 */
export async function accessBatches(
  connection: MongoConnection,
  chain: string,
  afterSequence: number,
  limit: number,
): Promise<readonly AccessBatch[]> {
  if (!isChain(chain) || limit < 1) return [];
  const found: Found[] = [];
  for (const month of await connection.call(monthsStored)) {
    found.push(await batchesOfMonth(connection, month, chain, afterSequence, limit));
  }
  // If a month was not read to its end, it can contain more batches after the last batch that was read. Batches from
  // other months that come after this batch belong on the next page.
  const ends = found.filter(({ isAll }) => !isAll).map(({ batches }) => batches.at(-1)?.sequence ?? 0);
  const end = Math.min(Number.POSITIVE_INFINITY, ...ends);
  return found
    .flatMap(({ batches }) => batches)
    .filter(({ sequence }) => sequence <= end)
    .sort((one, other) => one.sequence - other.sequence)
    .slice(0, limit);
}

function batchesOfMonth(
  { call }: MongoConnection,
  month: Month,
  chain: string,
  afterSequence: number,
  limit: number,
): Promise<Found> {
  return call(async (db) => {
    const range = { $gt: afterBatch(chain, afterSequence), $lte: afterBatch(chain) };
    const cursor = db.collection<EntryDocument>(accessCollection(month)).find({ _id: range }).sort({ _id: 1 });
    const batches: AccessBatch[] = [];
    let read = 0;
    try {
      for await (const { sequence, entries, link } of bySequence(cursor)) {
        if (batches.length >= limit || (batches.length > 0 && read >= entriesMax)) return { batches, isAll: false };
        // Skips a batch that is not closed. Such a batch was never acknowledged, because its writer failed and began a
        // new chain.
        if (link !== undefined) batches.push({ sequence, ...link, entries });
        read += entries.length;
      }
      return { batches, isAll: true };
    } finally {
      await cursor.close();
    }
  });
}

/** Groups consecutive documents with the same sequence number into batches, including batches that are not closed. */
async function* bySequence(documents: AsyncIterable<EntryDocument>): AsyncGenerator<StoredBatch> {
  let batch: StoredBatch | undefined;
  for await (const document of documents) {
    const { sequence } = entryPlace(document._id);
    if (batch === undefined || batch.sequence !== sequence) {
      if (batch !== undefined) yield batch;
      batch = { sequence, entries: [], link: undefined };
    }
    batch.entries.push(entryOf(document));
    batch.link ??= document.batch;
  }
  if (batch !== undefined) yield batch;
}
