import type { AccessEntry } from '../../../events/access-log/access-entry.js';
import { batchHash, noBatch } from '../../../events/access-log/batch-hash.js';
import { batchesOf, type NewBatch } from '../../access-log/batches-of.js';
import type { Month } from '../../access-log/month.js';
import type { MongoConnection } from '../connection.js';
import { inGroups } from '../in-groups.js';
import { ensureIndexes } from '../required-indexes.js';
import { accessCollection, accessIndexes } from './access-collections.js';
import { type EntryDocument, entryDocument } from './entry-document.js';
import { entryKey, newChain } from './entry-key.js';

type ChainHead = { readonly chain: string; readonly sequence: number; readonly hash: Uint8Array };

/**
 * Appends to the access log in a chain of its own; what is recorded at the same time goes together. After a failure nobody
 * knows what of a batch is stored, and a new chain begins.
 */
export function createAccessWriter({ call }: MongoConnection) {
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
    // In order: the entry that closes the batch is stored when all before it are.
    await call((db) => db.collection<EntryDocument>(accessCollection(month)).insertMany(documents, { ordered: true }));
    head = { chain: head.chain, sequence, hash };
  }

  const groups = inGroups<readonly AccessEntry[], void>(async (group) => {
    try {
      for (const batch of batchesOf(group.flat())) await append(batch);
    } catch (error) {
      head = noHead();
      throw error;
    }
    return [];
  });

  return {
    async record(entries: readonly AccessEntry[]): Promise<void> {
      if (entries.length > 0) await groups.add(entries);
    },
    /** The collections of months were dropped: their indexes with them. */
    forgetMonths: (): void => withIndexes.clear(),
    /** Resolves when nothing is on its way any more. */
    close: groups.idle,
  };
}

function noHead(): ChainHead {
  return { chain: newChain(), sequence: 0, hash: noBatch };
}
