import { tenantStream } from '../events/tenancy/streams.js';
import type { SearchTermKey, TenantKeys } from '../keys/key-ring.js';
import { GenerationDropped } from '../ports/generations.js';
import { after, type Maybe } from '../ports/maybe.js';
import { ForgedRow } from './forged-row.js';
import { keyNotThere } from './tenant-gone.js';
import type { Vault } from './vault.js';

/** The key ring and the directory. If a key is missing, the directory shows whether the key's tenant was deleted. */
export type TenantKeysDeps = Pick<Vault, 'keys' | 'directory'>;

export type SearchTermKeyDeps = TenantKeysDeps & Pick<Vault, 'generations'>;

/**
 * Returns a tenant's subkeys. Throws TenantGone if the tenant was deleted during the request. Throws KeyLost if the key
 * store has lost the keys.
 */
export function tenantKeysOf(vault: TenantKeysDeps, tenantId: string): Maybe<TenantKeys> {
  return after(vault.keys.tenantKeys(tenantId), (tenantKeys) => tenantKeys ?? tenantKeysMissing(vault, tenantId));
}

async function tenantKeysMissing(vault: TenantKeysDeps, tenantId: string): Promise<never> {
  throw await keyNotThere(vault, tenantId, tenantStream(tenantId), 'key_missing');
}

/**
 * Returns the search-term key for the generation that searches currently use. Throws the same errors as `tenantKeysOf`.
 */
export async function searchTermKeyOf(vault: SearchTermKeyDeps, tenantId: string): Promise<SearchTermKey> {
  const [searchKey] = await searchTermKeysOf(vault, tenantId, ({ read }) => [read]);
  if (searchKey === undefined) throw new Error('exactly one generation must be in use for reads');
  return searchKey;
}

/**
 * Returns the search-term keys for a row that is about to be written. There is one key for each generation that is
 * updated by writes. Call this again in each attempt to commit a change. If a generation was added after this call, a
 * commit without the terms for that generation results in a conflict. Throws the same errors as `tenantKeysOf`.
 */
export function indexKeysOf(vault: SearchTermKeyDeps, tenantId: string): Promise<readonly SearchTermKey[]> {
  return searchTermKeysOf(vault, tenantId, ({ write }) => write);
}

/**
 * Runs a search with the current search-term key. If a rebuild has replaced the rows before the search begins, runs the
 * search again with the new key. Because `search` may run more than once, it must not change anything. Throws the same
 * errors as `tenantKeysOf`.
 */
export async function withSearchTermKey<T>(
  vault: SearchTermKeyDeps,
  tenantId: string,
  search: (searchKey: SearchTermKey) => Promise<T>,
): Promise<T> {
  for (;;) {
    const searchKey = await searchTermKeyOf(vault, tenantId);
    try {
      return await search(searchKey);
    } catch (error) {
      if (!(error instanceof GenerationDropped)) throw error;
    }
  }
}

type InUse = Awaited<ReturnType<Vault['generations']['inUse']>>;

async function searchTermKeysOf(
  vault: SearchTermKeyDeps,
  tenantId: string,
  wanted: (inUse: InUse) => readonly number[],
): Promise<readonly SearchTermKey[]> {
  for (;;) {
    const generations = wanted(await vault.generations.inUse());
    const found = await Promise.all(
      generations.map(async (generation) => ({
        generation,
        key: await vault.keys.searchTermKey(tenantId, generation),
      })),
    );
    const searchKeys = found.flatMap(({ generation, key }) => (key === null ? [] : [{ generation, key }]));
    if (searchKeys.length === generations.length) return searchKeys;
    // A key is missing. If its generation was dropped between the two reads, this is expected, and the keys are read
    // again. If the generation is still in use, the key must exist.
    const still = wanted(await vault.generations.inUse());
    const lacking = found.find(({ generation, key }) => key === null && still.includes(generation));
    if (lacking === undefined) continue;
    // The key of a generation is created before the generation. Threat: an attacker adds a generation to the rows.
    if (searchKeys.length > 0)
      throw new ForgedRow({ of: 'generation', name: `${lacking.generation}` }, 'not_authentic');
    throw await keyNotThere(vault, tenantId, tenantStream(tenantId), 'key_missing');
  }
}
