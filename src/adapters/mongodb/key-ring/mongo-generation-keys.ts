import type { Clock } from '../../../ports/clock.js';
import {
  deriveSearchKey,
  presentGeneration as generation,
  newGenerationKey,
  openGenerationKey,
} from '../../key-ring/generation-key.js';
import { MongoBroken, type MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { keyCollections } from './key-collections.js';
import type { MongoRootKeys } from './mongo-root-keys.js';

/** Makes the key of the first generation in a new key store. */
export async function ensureMongoGenerationKey({ call }: MongoConnection, roots: MongoRootKeys, clock: Clock) {
  if ((await call((db) => keyCollections.generationKeys(db).findOne({ _id: generation }))) !== null) return;
  // Made first: a transaction that looks at one moment makes no collection.
  await call((db) => db.createCollection('generation_keys')).catch(() => undefined);
  try {
    await roots.wrapping(async (rootKey, db, session) => {
      const key = { _id: generation, made_at: clock.now(), destroyed_at: null, wrapped: newGenerationKey(rootKey) };
      await keyCollections.generationKeys(db).insertOne(key, { session });
    });
  } catch (error) {
    // Another process was first.
    if (!(error instanceof DuplicateKey)) throw error;
  }
}

/** Keys of search terms: one for each tenant, derived from the key of the present generation. */
export function createMongoGenerationKeys({ call }: MongoConnection, roots: MongoRootKeys) {
  const searchKeys = new Map<string, Buffer>();

  async function findKey(): Promise<Buffer | null> {
    const row = await call((db) => keyCollections.generationKeys(db).findOne({ _id: generation }));
    const wrapped = row?.wrapped ?? null;
    return wrapped === null ? null : roots.open((rootKey) => openGenerationKey(rootKey, wrapped));
  }

  async function generationKey(): Promise<Buffer> {
    const key = await findKey();
    if (key !== null) return key;
    await roots.refresh();
    const again = await findKey();
    if (again === null) throw new MongoBroken('the key store lacks the key of search: restore it from a backup.');
    return again;
  }

  return {
    async searchKey(tenantId: string, salt: Buffer): Promise<Buffer> {
      const known = searchKeys.get(tenantId);
      if (known !== undefined) return known;
      const derived = deriveSearchKey(await generationKey(), tenantId, salt);
      searchKeys.set(tenantId, derived);
      return derived;
    },
    /** The tenant's keys are destroyed. A copy may be in use, so it is let go and not zeroed. */
    drop(tenantId: string): void {
      searchKeys.delete(tenantId);
    },
  };
}
