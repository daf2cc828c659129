import { randomInt } from 'node:crypto';
import { batcher } from './batcher.js';
import type { MongoConnection } from './connection.js';

/**
 * The number of documents in `read_proofs`. Each process writes to one of them, chosen at random. Two processes
 * therefore rarely write to the same document.
 */
const places = 64;
/** The number of values that a write chooses from, large enough that two writes never store the same value. */
const numbers = 2 ** 48 - 1;

/**
 * Returns a function that proves that the responding server is the primary that a majority of the nodes follows. The
 * proof is a write acknowledged by a majority. The write must change the document, because a server confirms a write
 * that changes nothing without waiting for the majority. It therefore stores a random number. Incrementing a counter
 * would fail, or change nothing, if the stored value were damaged. Concurrent calls share one write, which begins after
 * the last of these calls. The function throws StoreUnavailable if the write is not acknowledged.
 */
export function createReadProof({ call }: MongoConnection): () => Promise<void> {
  const place = randomInt(places);
  const proofs = batcher<null, void>(async () => {
    await call((db) =>
      db
        .collection<{ readonly _id: number; readonly proofs: number }>('read_proofs')
        .updateOne({ _id: place }, { $set: { proofs: randomInt(numbers) } }, { upsert: true }),
    );
    return [];
  });
  return () => proofs.add(null);
}
