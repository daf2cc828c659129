import type { SearchKey, TenantKeys } from '../keys/key-ring.js';
import { GenerationDropped } from '../ports/generations.js';
import { after, type Maybe } from '../ports/maybe.js';
import { keyNotThere } from './tenant-gone.js';
import type { Vault } from './vault.js';

/** The key ring, and what decides whether a key may be missing. */
export type Keys = Pick<Vault, 'keys' | 'directory'>;

/**
 * Returns the subkeys of a tenant. Throws TenantGone if the tenant was deleted in the meantime, and KeyLost if the key
 * store lost them.
 */
export function tenantKeysOf(vault: Keys, tenantId: string): Maybe<TenantKeys> {
  return after(vault.keys.tenantKeys(tenantId), (tenantKeys) => tenantKeys ?? tenantKeysMissing(vault, tenantId));
}

async function tenantKeysMissing(vault: Keys, tenantId: string): Promise<never> {
  throw await keyNotThere(vault, tenantId, `tenant-${tenantId}`, 'key_missing');
}

/** Returns the key for the search terms that a tenant's searches use now. Throws the same errors as `tenantKeysOf`. */
export async function searchKeyOf(vault: Keys & Pick<Vault, 'generations'>, tenantId: string): Promise<SearchKey> {
  const [searchKey] = await searchKeysOf(vault, tenantId, ({ read }) => [read]);
  if (searchKey === undefined) throw new Error('one generation is read');
  return searchKey;
}

/**
 * Returns the keys for the search terms of a row that is written now, one for each generation. Get them in each attempt
 * at a change: a commit without the terms of a generation that was added meanwhile is a conflict. Throws the same
 * errors as `tenantKeysOf`.
 */
export function indexKeysOf(vault: Keys & Pick<Vault, 'generations'>, tenantId: string): Promise<readonly SearchKey[]> {
  return searchKeysOf(vault, tenantId, ({ write }) => write);
}

/**
 * Runs a search with the key for the search terms that are in use. If the rows were replaced before the search began,
 * it runs the search again with the new key, so `search` must not change anything. Throws the same errors as
 * `tenantKeysOf`.
 */
export async function withSearchKey<T>(
  vault: Keys & Pick<Vault, 'generations'>,
  tenantId: string,
  search: (searchKey: SearchKey) => Promise<T>,
): Promise<T> {
  for (;;) {
    const searchKey = await searchKeyOf(vault, tenantId);
    try {
      return await search(searchKey);
    } catch (error) {
      if (!(error instanceof GenerationDropped)) throw error;
    }
  }
}

type InUse = Awaited<ReturnType<Vault['generations']['inUse']>>;

async function searchKeysOf(
  vault: Keys & Pick<Vault, 'generations'>,
  tenantId: string,
  wanted: (inUse: InUse) => readonly number[],
): Promise<readonly SearchKey[]> {
  for (;;) {
    const generations = wanted(await vault.generations.inUse());
    const found = await Promise.all(
      generations.map(async (generation) => ({ generation, key: await vault.keys.searchKey(tenantId, generation) })),
    );
    const searchKeys = found.flatMap(({ generation, key }) => (key === null ? [] : [{ generation, key }]));
    if (searchKeys.length === generations.length) return searchKeys;
    // A generation that was dropped between the two reads no longer has a key. One that is in use must have a key.
    const still = wanted(await vault.generations.inUse());
    if (found.some(({ generation, key }) => key === null && still.includes(generation))) {
      throw await keyNotThere(vault, tenantId, `tenant-${tenantId}`, 'key_missing');
    }
  }
}
