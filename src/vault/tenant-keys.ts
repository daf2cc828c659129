import { GenerationDropped } from '../ports/generations.js';
import type { SearchKey, TenantKeys } from '../ports/key-ring.js';
import { keyNotThere } from './tenant-gone.js';
import type { Vault } from './vault.js';

/** Where keys are, and what tells whether one may be missing. */
export type Keys = Pick<Vault, 'keys' | 'directory'>;

/**
 * The subkeys of a tenant that has a caller. Throws TenantGone when it was deleted meanwhile, and KeyLost when the key
 * store lost them.
 */
export async function tenantKeysOf(vault: Keys, tenantId: string): Promise<TenantKeys> {
  const tenantKeys = await vault.keys.tenantKeys(tenantId);
  if (tenantKeys === null) throw await keyNotThere(vault, tenantId, `tenant-${tenantId}`, 'key_missing');
  return tenantKeys;
}

/** The key of the terms that a tenant's tokens are searched by now. Throws as `tenantKeysOf`. */
export async function searchKeyOf(vault: Keys & Pick<Vault, 'generations'>, tenantId: string): Promise<SearchKey> {
  const [searchKey] = await searchKeysOf(vault, tenantId, ({ read }) => [read]);
  if (searchKey === undefined) throw new Error('one generation is read');
  return searchKey;
}

/**
 * The keys of the terms that a row of a tenant is to be found by, if it is written now, one for each generation: to be asked
 * for in each try at a change, because a commit without the terms of a generation that was added meanwhile is a conflict.
 * Throws as `tenantKeysOf`.
 */
export function indexKeysOf(vault: Keys & Pick<Vault, 'generations'>, tenantId: string): Promise<readonly SearchKey[]> {
  return searchKeysOf(vault, tenantId, ({ write }) => write);
}

/**
 * Runs searches with the key of the terms that a tenant's tokens are searched by; once more with another one, when the rows
 * were replaced before they had begun. So `search` must change nothing. Throws as `tenantKeysOf`.
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
    // A generation that was dropped between the two looks has no key any more; one that is in use must have it.
    const still = wanted(await vault.generations.inUse());
    if (found.some(({ generation, key }) => key === null && still.includes(generation))) {
      throw await keyNotThere(vault, tenantId, `tenant-${tenantId}`, 'key_missing');
    }
  }
}
