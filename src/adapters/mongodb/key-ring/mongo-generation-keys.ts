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

/** Makes the key of the first generation in a new key store. */
export async function ensureMongoGenerationKey({ call }: MongoConnection, rootKey: Buffer, clock: Clock) {
  if ((await call((db) => keyCollections.generationKeys(db).findOne({ _id: generation }))) !== null) return;
  const key = { _id: generation, made_at: clock.now(), destroyed_at: null, wrapped: newGenerationKey(rootKey) };
  try {
    await call((db) => keyCollections.generationKeys(db).insertOne(key));
  } catch (error) {
    // Another process was first.
    if (!(error instanceof DuplicateKey)) throw error;
  }
}

/** Keys of search terms: one for each tenant, derived from the key of the present generation. */
export function createMongoGenerationKeys({ call }: MongoConnection, rootKey: Buffer) {
  const searchKeys = new Map<string, Buffer>();

  async function generationKey(): Promise<Buffer> {
    const row = await call((db) => keyCollections.generationKeys(db).findOne({ _id: generation }));
    const wrapped = row?.wrapped ?? null;
    const key = wrapped === null ? null : openGenerationKey(rootKey, wrapped);
    if (key === null) throw new MongoBroken('the key store lacks the key of search: restore it from a backup.');
    return key;
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
