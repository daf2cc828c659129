import { randomUUID } from 'node:crypto';
import type { Clock } from '../ports/clock.js';
import type { KeyRevision, KeyStore } from '../ports/key-store.js';
import { after } from '../ports/maybe.js';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import { createKeyCheck } from './check-keys.js';
import { openDataKey, wrapDataKey, wrapsMax } from './data-key.js';
import { createKeyCache, type OpenKey } from './key-cache.js';
import { createKeyPools } from './key-pools.js';
import type { DataKey, KeyRing, KeyUse } from './key-ring.js';
import { createOpenTenants, type OpenTenantKeys } from './open-tenants.js';
import { ownBuffer, randomKeys } from './random-key.js';
import { openRootKeys, type RootKeySource } from './root-keys.js';
import { createKeyRotation, type Wrapper } from './rotation.js';
import { createSearchTermKeys } from './search-keys.js';
import { TenantKeysBroken } from './tenant-keys-broken.js';
import { createTraceUses, type TraceUseLimits } from './trace-uses.js';
import { createVaultKey, integrityKeysOf, signingKeyOf } from './vault-keys.js';

/** The key ring of one process. */
type OpenKeyRing = KeyRing & {
  /**
   * Forgets all cached tenant, search-term and data keys. A caller that reads many keys calls this after each batch of
   * keys.
   */
  forgetAll(): void;
  /** Returns a copy of the root key. The caller must zero the copy. */
  rootKey(): Buffer;
  /**
   * Destroys the unused keys that were created in advance, and forgets all keys except the vault's keys. The store
   * stays open.
   */
  close(): Promise<void>;
};

type Opening = {
  readonly store: KeyStore;
  readonly rootKey: Buffer;
  /**
   * Reads other candidates for the root key. Called if `rootKey` is wrong, and whenever the root key has been replaced.
   */
  readonly source?: RootKeySource;
  readonly clock: Clock;
  /**
   * `seals_none` is for a process that only reads. Such a process seals no traces, and so reserves no uses of trace
   * keys.
   */
  readonly traceLimits?: TraceUseLimits | 'seals_none';
};

/**
 * Opens the keys of a store, and creates the first keys if the store is new. Throws the store's error if neither
 * `rootKey` nor a candidate from `source` is the root key of the store.
 */
export async function openKeyRing({
  store,
  rootKey,
  clock,
  source = async () => [],
  traceLimits = {},
}: Opening): Promise<OpenKeyRing> {
  const roots = await openRootKeys(store, rootKey, source);
  const traceUses = createTraceUses(store.reserveTraces, traceLimits === 'seals_none' ? {} : traceLimits);
  const tenants = createOpenTenants(store, roots, forgetTenant, traceUses);
  const searchKeys = createSearchTermKeys(store, roots);
  const cache = createKeyCache();
  const pools = createKeyPools(makeBlock, () => clock.now());
  await searchKeys.ensureFirst();

  /**
   * Returns the tenant's newest wrapping key, and adds `wraps` to its use count. If that key is retiring or used up,
   * creates a new wrapping key and returns the new one.
   */
  async function wrapperFor(tenantId: string, wraps: number): Promise<Wrapper> {
    for (;;) {
      const tenant = await tenants.fresh(tenantId);
      const { id, number, isRetiring } = newestOf(store, tenant);
      if (!isRetiring && (await store.countWraps(id, wraps)) <= wrapsMax) return { tenant, id };
      await tenants.addWrapping([{ tenant: tenantId, number: number + 1 }]);
    }
  }

  async function makeBlock(tenantId: string, size: number): Promise<DataKey[]> {
    for (;;) {
      const { tenant, id: tenantKeyId } = await wrapperFor(tenantId, size);
      const wrappingKey = tenant.wrapping.get(tenantKeyId);
      // The wrapping key was destroyed or dropped from the cache after `wrapperFor` returned it.
      if (!Buffer.isBuffer(wrappingKey)) continue;
      const keys = randomKeys(size).map((key) => ({ id: randomUUID(), key }));
      const rows = keys.map(({ id, key }) => ({
        id,
        wrapped: wrapDataKey(wrappingKey, key, { tenantId, tenantKeyId, keyId: id }),
      }));
      if ((await store.insertDataKeys(tenantKeyId, rows)) === 'stored') return keys;
      for (const { key } of keys) key.fill(0);
    }
  }

  /**
   * Reads and unwraps a data key. `triedKeyId` is the id of the wrapping key that the row named in the previous read,
   * or empty for the first read.
   */
  async function read(tenantId: string, keyId: string, triedKeyId = ''): Promise<OpenKey | 'destroyed' | 'missing'> {
    const row = await store.dataKey(keyId);
    if (row === null) return 'missing';
    const { tenantKeyId, wrapped, revision } = row;
    if (wrapped === null) return 'destroyed';
    const tenant = await tenants.having(tenantId, tenantKeyId);
    const wrappingKey = tenant.wrapping.get(tenantKeyId);
    if (wrappingKey === 'destroyed') {
      if (tenant.state === 'destroyed') return 'destroyed';
      // A rotation may have rewrapped the data key after its row was read. In that case, a second read finds a
      // different wrapping key.
      return tenantKeyId === triedKeyId ? 'missing' : read(tenantId, keyId, tenantKeyId);
    }
    const key = wrappingKey === undefined ? null : openDataKey(wrappingKey, wrapped, { tenantId, tenantKeyId, keyId });
    return key === null ? 'missing' : { key, revision };
  }

  /** Runs `use` with a key that is read from the store. Caches the key unless it was destroyed during the read. */
  async function useStored<T>(tenantId: string, keyId: string, use: (key: Buffer) => T): Promise<KeyUse<T>> {
    const keep = cache.reading(tenantId, keyId);
    let opened: OpenKey | null = null;
    try {
      const found = await read(tenantId, keyId);
      if (typeof found === 'string') return { state: found };
      opened = found;
      return { state: 'open', value: use(opened.key), revision: opened.revision };
    } finally {
      if (!keep(opened)) opened?.key.fill(0);
    }
  }

  /**
   * Runs `use` with a cached key from a shared store. Checks the store first, because another process may have
   * destroyed the key or recorded a newer revision. Returns null if the key is not cached or was destroyed.
   */
  async function useShared<T>(tenantId: string, keyId: string, use: (key: Buffer) => T): Promise<KeyUse<T> | null> {
    const { state } = await tenants.current(tenantId);
    if (state !== 'living' || cache.get(tenantId, keyId) === undefined) return null;
    const noted = await store.noted(keyId);
    if (noted === null) cache.drop(keyId);
    // The key may have been dropped from the cache during the check.
    const cached = cache.get(tenantId, keyId);
    if (noted === null || cached === undefined) return null;
    return { state: 'open', value: use(cached.key), revision: noted.revision };
  }

  /** Updates the revisions of cached keys. */
  function noteCached(advanced: readonly KeyRevision[]): void {
    for (const { keyId, revision } of advanced) cache.advance(keyId, revision);
  }

  /** Drops all cached keys of a tenant whose keys were destroyed. */
  function forgetTenant(tenantId: string): void {
    searchKeys.dropTenant(tenantId);
    cache.dropTenant(tenantId);
    pools.drop(tenantId);
  }

  function dropTenant(tenantId: string): void {
    tenants.drop(tenantId);
    forgetTenant(tenantId);
  }

  return {
    ...store.records,
    createTenant: tenants.create,
    tenantKeys: (tenantId) =>
      after(tenants.current(tenantId), ({ subkeys }) => {
        const reserved = subkeys === null || traceLimits === 'seals_none' ? null : traceUses.ready(tenantId);
        return after(reserved, () => subkeys);
      }),
    searchTermKey: (tenantId, generation) =>
      after(tenants.current(tenantId), ({ subkeys }) =>
        subkeys === null ? null : searchKeys.get(generation, tenantId, subkeys.names),
      ),
    createGeneration: searchKeys.create,
    generations: async () => store.generations(),
    async destroyGeneration(generation) {
      searchKeys.dropGeneration(generation);
      try {
        await store.destroyGenerationKey(generation);
      } finally {
        // A concurrent read may have cached the key again.
        searchKeys.dropGeneration(generation);
      }
    },
    async destroyTenant(tenantId, eventId) {
      dropTenant(tenantId);
      try {
        return await tenants.destroy(tenantId, eventId);
      } finally {
        // A concurrent read may have cached the keys again.
        dropTenant(tenantId);
      }
    },
    async create(tenantId) {
      // Another process may have destroyed the tenant's keys. In that case, the keys that this process created in
      // advance must not be used.
      if (store.isShared) newestOf(store, await tenants.current(tenantId));
      const { id, key } = await pools.take(tenantId);
      // A token that was just created is likely to be read soon.
      cache.add(tenantId, id, ownBuffer(Buffer.from(key)), null);
      return { id, key };
    },
    use(tenantId, keyId, use) {
      if (store.isShared) {
        return useShared(tenantId, keyId, use).then((used) => used ?? useStored(tenantId, keyId, use));
      }
      // No other process changes the keys of this store, so a cached key is current.
      const cached = cache.get(tenantId, keyId);
      if (cached === undefined) return useStored(tenantId, keyId, use);
      return { state: 'open', value: use(cached.key), revision: cached.revision };
    },
    async destroy(ended, advanced = []) {
      for (const { keyId } of ended) cache.drop(keyId);
      noteCached(advanced);
      try {
        return await store.destroyDataKeys(ended, advanced);
      } finally {
        noteCached(advanced);
        // A read that began before the destruction may have cached the key again. The key is dropped even if the store
        // throws because the destruction takes too long. By then, the store has overwritten the key.
        for (const { keyId } of ended) cache.drop(keyId);
      }
    },
    async advance(advanced) {
      noteCached(advanced);
      try {
        await store.advance(advanced);
      } finally {
        // A concurrent read may have cached a key with its older revision.
        noteCached(advanced);
      }
    },
    async forgetRevisions() {
      await store.forgetRevisions();
      cache.clear();
    },
    signingKey: createVaultKey(store, roots, 'audit-signing', signingKeyOf),
    integrityKeys: createVaultKey(store, roots, 'integrity', integrityKeysOf),
    rotation: createKeyRotation({ store, roots, tenants, wrapperFor }),
    hasRootKey: roots.follow,
    check: {
      ...createKeyCheck(store, roots),
      async stateOf(tenantId, keyId) {
        const found = await read(tenantId, keyId);
        if (typeof found === 'string') return found;
        found.key.fill(0);
        return 'open';
      },
    },
    forgetAll() {
      tenants.forgetAll();
      searchKeys.forgetAll();
      cache.clear();
    },
    rootKey: roots.copy,
    async close() {
      const ended = await pools.close();
      cache.close();
      try {
        // If this fails, the keys become orphans. The orphan-key job destroys them later.
        if (ended.length > 0) await store.destroyDataKeys(ended, []);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      } finally {
        tenants.forgetAll();
        searchKeys.forgetAll();
        roots.close();
      }
    },
  };
}

function newestOf(store: KeyStore, { state, newest }: OpenTenantKeys): NonNullable<OpenTenantKeys['newest']> {
  if (state === 'destroyed') throw new StoreUnavailable(store.name, 'tenant_destroyed');
  if (newest === null) {
    throw new TenantKeysBroken(`${store.title} lacks the keys of a tenant: restore it from a backup.`);
  }
  return newest;
}
