import type { Clock } from '../../../ports/clock.js';
import {
  deriveSearchKey,
  firstGeneration,
  newGenerationKey,
  openGenerationKey,
} from '../../key-ring/generation-key.js';
import { createSearchKeyCache } from '../../key-ring/search-key-cache.js';
import { MongoBroken, type MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { keyCollections } from './key-collections.js';
import type { MongoRootKeys } from './mongo-root-keys.js';

/** Creates the key of the first generation in a new key store. */
export async function ensureMongoGenerationKey(connection: MongoConnection, roots: MongoRootKeys, clock: Clock) {
  const { call } = connection;
  if ((await call((db) => keyCollections.generationKeys(db).findOne({ _id: firstGeneration }))) !== null) return;
  // Create the collection outside the transaction, because a snapshot transaction cannot create it.
  await call((db) => db.createCollection('generation_keys')).catch(() => undefined);
  // Returns false if another process was first, which is fine here.
  await insertKey(roots, clock, firstGeneration);
}

/** Creates the key of a generation. Returns false if the generation has a key already. */
async function insertKey(roots: MongoRootKeys, clock: Clock, generation: number): Promise<boolean> {
  try {
    await roots.wrapping(async (rootKey, db, session) => {
      const wrapped = newGenerationKey(rootKey, generation);
      const key = { _id: generation, made_at: clock.now(), destroyed_at: null, wrapped };
      await keyCollections.generationKeys(db).insertOne(key, { session });
    });
    return true;
  } catch (error) {
    if (!(error instanceof DuplicateKey)) throw error;
    return false;
  }
}

/** Returns the generations whose rows can be searched, in order. A new key store has none. */
export async function livingGenerations({ call }: MongoConnection): Promise<readonly number[]> {
  const found = await call((db) =>
    keyCollections.generationKeys(db).find({ destroyed_at: null }).sort({ _id: 1 }).toArray(),
  );
  return found.map(({ _id }) => _id);
}

/** Returns the keys of search terms. Each tenant's key is derived from the key of a generation. */
export function createMongoGenerationKeys(connection: MongoConnection, roots: MongoRootKeys, clock: Clock) {
  const { call } = connection;
  const cache = createSearchKeyCache();

  async function generationKey(generation: number): Promise<Buffer | null> {
    for (const isFirst of [true, false]) {
      const row = await call((db) => keyCollections.generationKeys(db).findOne({ _id: generation }));
      const wrapped = row?.wrapped ?? null;
      if (wrapped === null) return null;
      const key = roots.open((rootKey) => openGenerationKey(rootKey, wrapped, generation));
      if (key !== null) return key;
      if (isFirst) await roots.refresh();
    }
    throw new MongoBroken('a search key does not open: restore the key store from a backup.');
  }

  return {
    async searchKey(generation: number, tenantId: string, salt: Buffer): Promise<Buffer | null> {
      const known = cache.get(generation, tenantId);
      if (known !== undefined) return known;
      const key = await generationKey(generation);
      return key === null ? null : cache.add(generation, tenantId, deriveSearchKey(key, tenantId, salt));
    },
    async create(): Promise<number> {
      for (;;) {
        const [newest] = await call((db) =>
          keyCollections.generationKeys(db).find().sort({ _id: -1 }).limit(1).toArray(),
        );
        const generation = (newest?._id ?? 0) + 1;
        if (await insertKey(roots, clock, generation)) return generation;
      }
    },
    living: () => livingGenerations(connection),
    async destroy(generation: number): Promise<void> {
      cache.dropGeneration(generation);
      const destroyed = { $set: { destroyed_at: clock.now(), wrapped: null } };
      await call((db) =>
        keyCollections.generationKeys(db).updateOne({ _id: generation, destroyed_at: null }, destroyed),
      );
      // A concurrent read may have cached the key again.
      cache.dropGeneration(generation);
    },
    dropTenant: cache.dropTenant,
  };
}
