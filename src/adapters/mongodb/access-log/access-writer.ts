import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { AccessEntry } from '../../../events/access-log/access-entry.js';
import { batchHash, noBatch } from '../../../events/access-log/batch-hash.js';
import { batchesOf, type NewBatch } from '../../access-log/batches-of.js';
import type { Month } from '../../access-log/month.js';
import type { MongoConnection } from '../connection.js';
import { ensureIndexes } from '../required-indexes.js';
import { accessCollection, accessIndexes } from './access-collections.js';
import { type EntryDocument, entryDocument } from './entry-document.js';
import { entryKey, newChain } from './entry-key.js';

type Waiting = {
  readonly entries: readonly AccessEntry[];
  resolve(): void;
  reject(error: unknown): void;
};

type ChainHead = { readonly chain: string; readonly sequence: number; readonly hash: Uint8Array };

/**
 * Appends to the access log in a chain of its own. What is recorded while a batch is on its way goes with the next one,
 * so nothing waits for company. After a failure nobody knows what of a batch is stored: what waits is refused with it,
 * and a new chain begins.
 */
export function createAccessWriter({ call }: MongoConnection) {
  const withIndexes = new Set<Month>();
  let head = noHead();
  let waiting: Waiting[] = [];
  let writing: Promise<void> | null = null;

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

  async function writeAll(): Promise<void> {
    // Whoever records in the same turn joins the first batch.
    await endOfTurn();
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        for (const batch of batchesOf(group.flatMap(({ entries }) => entries))) await append(batch);
        for (const { resolve } of group) resolve();
      } catch (error) {
        head = noHead();
        for (const { reject } of [...group, ...waiting.splice(0)]) reject(error);
      }
    }
    writing = null;
  }

  return {
    record(entries: readonly AccessEntry[]): Promise<void> {
      if (entries.length === 0) return Promise.resolve();
      return new Promise((resolve, reject) => {
        waiting.push({ entries, resolve, reject });
        writing ??= writeAll();
      });
    },
    /** The collections of months were dropped: their indexes with them. */
    forgetMonths: (): void => withIndexes.clear(),
    /** Resolves when nothing is on its way any more. */
    async close(): Promise<void> {
      await writing;
    },
  };
}

function noHead(): ChainHead {
  return { chain: newChain(), sequence: 0, hash: noBatch };
}
