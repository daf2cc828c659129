import { randomInt } from 'node:crypto';
import { batcher } from './batcher.js';
import type { MongoConnection } from './connection.js';

/**
 * The number of documents in `read_proofs`. Each process writes to a random one, so that processes rarely contend for
 * the same document.
 */
const places = 64;

/**
 * Returns a function that proves that the server that responds is the primary that a majority follows. The proof is a
 * write that a majority acknowledges. The write has to change the document, because a server confirms a write that
 * changes nothing without asking the majority. Concurrent calls share one write, which begins after all of them have
 * been made. The function throws StoreUnavailable if there is no proof.
 */
export function createReadProof({ call }: MongoConnection): () => Promise<void> {
  const place = randomInt(places);
  const proofs = batcher<null, void>(async () => {
    await call((db) =>
      db
        .collection<{ readonly _id: number; readonly proofs: number }>('read_proofs')
        .updateOne({ _id: place }, { $inc: { proofs: 1 } }, { upsert: true }),
    );
    return [];
  });
  return () => proofs.add(null);
}
