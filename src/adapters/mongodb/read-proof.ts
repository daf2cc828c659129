import { randomInt } from 'node:crypto';
import type { MongoConnection } from './connection.js';

/** So many processes write without getting in each other's way. */
const places = 64;

/**
 * Proves that the server which answers is the primary that a majority follows: by a write that the majority acknowledges,
 * and that changes something, because one that changes nothing is answered without it. Many who ask at once share one
 * write, which begins after all of them have asked. Throws StoreUnavailable.
 */
export function createReadProof({ call }: MongoConnection): () => Promise<void> {
  const place = randomInt(places);
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  async function write(): Promise<void> {
    await call((db) =>
      db
        .collection<{ readonly _id: number; readonly proofs: number }>('read_proofs')
        .updateOne({ _id: place }, { $inc: { proofs: 1 } }, { upsert: true }),
    );
  }

  function begin(): Promise<void> {
    running = write().finally(() => {
      running = null;
    });
    return running;
  }

  return () => {
    if (running === null) return begin();
    // The one that is on its way may have begun before what is to be proven was read.
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        return begin();
      });
    return next;
  };
}
