import {
  deriveSearchKey,
  presentGeneration as generation,
  newGenerationKey,
  openGenerationKey,
} from '../../key-ring/generation-key.js';
import type { RootKeys } from '../../key-ring/root-keys.js';
import { StoreBroken } from '../database-error.js';
import { never } from '../keys-schema.js';
import type { SqliteDatabase } from '../open-database.js';
import { reading } from '../reading.js';
import type { Writer } from '../writer/writer.js';

type Row = { readonly destroyed_at: number; readonly wrapped: Buffer };

/** Makes the key of the first generation in a new key store. */
export async function ensureGenerationKey(
  database: SqliteDatabase,
  writer: Writer,
  roots: RootKeys,
  madeAt: number,
): Promise<void> {
  const find = database.prepare('SELECT 1 FROM generation_keys WHERE generation = ?');
  if (reading(() => find.get(generation), 'keys.db') !== undefined) return;
  await roots.wrapping((rootKey) =>
    writer.request('insert_generation_key', { generation, madeAt, wrapped: newGenerationKey(rootKey) }),
  );
}

/**
 * Keys of search terms: one random key for each generation of token rows, wrapped under the root key, and from it one
 * for each tenant.
 */
export function createGenerationKeys(database: SqliteDatabase, roots: RootKeys) {
  const byGeneration = database.prepare('SELECT destroyed_at, wrapped FROM generation_keys WHERE generation = ?');
  const searchKeys = new Map<string, Buffer>();

  function generationKey(): Buffer {
    const row = reading(() => byGeneration.get(generation) as Row | undefined, 'keys.db');
    const wrapped = row === undefined || row.destroyed_at !== never ? null : row.wrapped;
    const key = wrapped === null ? null : roots.open((rootKey) => openGenerationKey(rootKey, wrapped));
    if (key === null) throw new StoreBroken('keys.db lacks the key of search: restore keys.db from a backup.');
    return key;
  }

  return {
    searchKey(tenantId: string, salt: Buffer): Buffer {
      const known = searchKeys.get(tenantId);
      if (known !== undefined) return known;
      const derived = deriveSearchKey(generationKey(), tenantId, salt);
      searchKeys.set(tenantId, derived);
      return derived;
    },
    /** The tenant's keys are destroyed. A copy may be in use, so it is let go and not zeroed. */
    drop(tenantId: string): void {
      searchKeys.delete(tenantId);
    },
  };
}
