import { randomInt } from 'node:crypto';
import type { MongoConnection } from './connection.js';
import { inGroups } from './in-groups.js';

/** So many processes write without getting in each other's way. */
const places = 64;

/**
 * Proves that the server which answers is the primary that a majority follows: by a write that the majority acknowledges,
 * and that changes something, because one that changes nothing is answered without it. Many who ask at once share one
 * write, which begins after all of them have asked. Throws StoreUnavailable.
 */
export function createReadProof({ call }: MongoConnection): () => Promise<void> {
  const place = randomInt(places);
  const proofs = inGroups<null, void>(async () => {
    await call((db) =>
      db
        .collection<{ readonly _id: number; readonly proofs: number }>('read_proofs')
        .updateOne({ _id: place }, { $inc: { proofs: 1 } }, { upsert: true }),
    );
    return [];
  });
  return () => proofs.add(null);
}
