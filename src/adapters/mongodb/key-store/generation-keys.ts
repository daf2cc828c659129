import type { Db } from 'mongodb';
import type { Clock } from '../../../ports/clock.js';
import { firstGeneration } from '../../../ports/generations.js';
import type { KeyStore } from '../../../ports/key-store.js';
import type { MongoConnection } from '../connection.js';
import { keyCollections } from './key-collections.js';
import { insertWrappedKey } from './root-check.js';

/**
 * Returns the generations whose keys have not been destroyed, in ascending order. Only the rows of these generations
 * can be searched. Returns an empty list for a new key store.
 */
export async function livingGenerations({ call }: MongoConnection): Promise<readonly number[]> {
  const found = await call((db) =>
    keyCollections.generationKeys(db).find({ destroyed_at: null }).sort({ _id: 1 }).toArray(),
  );
  return found.map(({ _id }) => _id);
}

/** Returns the newest generation that has a key, even if the key is destroyed. A rebuild uses the number after it. */
export async function newestGeneration(db: Db): Promise<number> {
  const [newest] = await keyCollections.generationKeys(db).find().sort({ _id: -1 }).limit(1).toArray();
  return newest?._id ?? 0;
}

/** Stores the wrapped search-term keys. There is one key for each generation of token rows. */
export function mongoGenerationKeys(
  connection: MongoConnection,
  clock: Clock,
): Pick<
  KeyStore,
  'generationKey' | 'generations' | 'newestGeneration' | 'insertGenerationKey' | 'destroyGenerationKey'
> {
  const { call } = connection;

  return {
    async generationKey(generation) {
      const row = await call((db) => keyCollections.generationKeys(db).findOne({ _id: generation }));
      return row?.wrapped ?? null;
    },
    generations: () => livingGenerations(connection),
    newestGeneration: () => call(newestGeneration),
    async insertGenerationKey(generation, wrapped, rootCheck) {
      // Creates the collection before the transaction begins. A collection cannot be created in a transaction that
      // reads from a snapshot.
      if (generation === firstGeneration) await call((db) => db.createCollection('generation_keys')).catch(() => null);
      const key = { _id: generation, made_at: clock.now(), destroyed_at: null, wrapped };
      return insertWrappedKey(connection, rootCheck, (db, session) =>
        keyCollections.generationKeys(db).insertOne(key, { session }),
      );
    },
    async destroyGenerationKey(generation) {
      const destroyed = { $set: { destroyed_at: clock.now(), wrapped: null } };
      await call((db) =>
        keyCollections.generationKeys(db).updateOne({ _id: generation, destroyed_at: null }, destroyed),
      );
    },
  };
}
