import {
  deriveSearchKey,
  firstGeneration,
  newGenerationKey,
  openGenerationKey,
} from '../../key-ring/generation-key.js';
import type { RootKeys } from '../../key-ring/root-keys.js';
import { createSearchKeyCache } from '../../key-ring/search-key-cache.js';
import { StoreBroken } from '../database/database-error.js';
import { never } from '../database/keys-schema.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { reading } from '../database/reading.js';
import type { Writer } from '../writer/writer.js';

type Row = { readonly destroyed_at: number; readonly wrapped: Buffer };

/** Creates the key of the first generation in a new key store. */
export async function ensureGenerationKey(
  database: SqliteDatabase,
  writer: Writer,
  roots: RootKeys,
  madeAt: number,
): Promise<void> {
  const find = database.prepare('SELECT 1 FROM generation_keys WHERE generation = ?');
  if (reading(() => find.get(firstGeneration), 'keys.db') !== undefined) return;
  await insertKey(writer, roots, firstGeneration, madeAt);
}

async function insertKey(writer: Writer, roots: RootKeys, generation: number, madeAt: number): Promise<void> {
  await roots.wrapping((rootKey) =>
    writer.request('insert_generation_key', { generation, madeAt, wrapped: newGenerationKey(rootKey, generation) }),
  );
}

/**
 * Creates the store of the keys of search terms. Each generation of token rows has one random key, wrapped under the
 * root key. The key of each tenant is derived from it.
 */
export function createGenerationKeys(database: SqliteDatabase, writer: Writer, roots: RootKeys) {
  const byGeneration = database.prepare('SELECT destroyed_at, wrapped FROM generation_keys WHERE generation = ?');
  const living = database
    .prepare(`SELECT generation FROM generation_keys WHERE destroyed_at = ${never} ORDER BY generation`)
    .pluck();
  const newest = database.prepare('SELECT max(generation) FROM generation_keys').pluck();
  const cache = createSearchKeyCache();

  function generationKey(generation: number): Buffer | null {
    const row = reading(() => byGeneration.get(generation) as Row | undefined, 'keys.db');
    if (row === undefined || row.destroyed_at !== never) return null;
    const key = roots.open((rootKey) => openGenerationKey(rootKey, row.wrapped, generation));
    if (key === null) throw new StoreBroken('a search key in keys.db does not open: restore keys.db from a backup.');
    return key;
  }

  return {
    searchKey(generation: number, tenantId: string, salt: Buffer): Buffer | null {
      const known = cache.get(generation, tenantId);
      if (known !== undefined) return known;
      const key = generationKey(generation);
      return key === null ? null : cache.add(generation, tenantId, deriveSearchKey(key, tenantId, salt));
    },
    async create(madeAt: number): Promise<number> {
      const generation = Number(reading(() => newest.get(), 'keys.db') ?? 0) + 1;
      await insertKey(writer, roots, generation, madeAt);
      return generation;
    },
    living: (): readonly number[] => reading(() => living.all() as number[], 'keys.db'),
    forgetAll: cache.clear,
    dropTenant: cache.dropTenant,
    dropGeneration: cache.dropGeneration,
  };
}
