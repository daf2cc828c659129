import { firstGeneration } from '../ports/generations.js';
import { type KeyStore, vaultKeyTenant } from '../ports/key-store.js';
import type { Maybe } from '../ports/maybe.js';
import { deriveSearchTermKey, newGenerationKey, openGenerationKey } from './generation-key.js';
import type { RootKeys } from './root-keys.js';

/**
 * Derives and caches search-term keys. Each generation of token rows has one random generation key, wrapped under the
 * root key. The search-term keys of all tenants are derived from it. A search-term key that is dropped from the cache
 * is not zeroed, because it may still be in use.
 */
export function createSearchTermKeys(store: KeyStore, roots: RootKeys) {
  const cached = new Map<number, Map<string, Buffer>>();
  let drops = 0;

  const insert = (generation: number) =>
    roots.wrapping((rootKey, check) =>
      store.insertGenerationKey(generation, newGenerationKey(rootKey, generation), check),
    );

  async function generationKey(generation: number): Promise<Buffer | null> {
    const readAndOpen = async () => {
      const wrapped = await store.generationKey(generation);
      return wrapped === null ? 'missing' : roots.open((rootKey) => openGenerationKey(rootKey, wrapped, generation));
    };
    const found = await roots.retry(readAndOpen, (key) => key !== null);
    if (found === null) {
      throw store.broken(`a search key in ${store.title} does not open: restore ${store.title} from a backup.`);
    }
    return found === 'missing' ? null : found;
  }

  async function read(generation: number, tenantId: string, salt: Buffer): Promise<Buffer | null> {
    const dropsBefore = drops;
    const opened = await generationKey(generation);
    if (opened === null) return null;
    const key = deriveSearchTermKey(opened, tenantId, salt);
    // A read that began before a key was destroyed must not put that key back into the cache.
    if (drops !== dropsBefore) return key;
    const tenants = cached.get(generation) ?? new Map<string, Buffer>();
    cached.set(generation, tenants.set(tenantId, key));
    return key;
  }

  return {
    /**
     * Creates the key of the first generation if the key store is new. Throws the store's error if the keys of all
     * generations were removed from the store. With a new key, searches would find none of the existing tokens.
     */
    async ensureFirst(): Promise<void> {
      // This key is created before the vault's keys. The vault's keys are read first, because another process that
      // opens the same new store may create both in between.
      const isNew = (await store.readTenantKeys(vaultKeyTenant)).length === 0;
      if ((await store.newestGeneration()) >= firstGeneration) return;
      if (!isNew) throw store.broken(`${store.title} lacks its search keys: restore it from a backup.`);
      await insert(firstGeneration);
    },
    /** Returns the tenant's search-term key. Returns null if the generation has no key. */
    get: (generation: number, tenantId: string, salt: Buffer): Maybe<Buffer | null> =>
      cached.get(generation)?.get(tenantId) ?? read(generation, tenantId, salt),
    /** Creates the key of a new generation and returns its number. */
    async create(): Promise<number> {
      for (;;) {
        const generation = (await store.newestGeneration()) + 1;
        if ((await insert(generation)) === 'stored') return generation;
      }
    },
    dropTenant(tenantId: string): void {
      drops += 1;
      for (const tenants of cached.values()) tenants.delete(tenantId);
    },
    dropGeneration(generation: number): void {
      drops += 1;
      cached.delete(generation);
    },
    forgetAll(): void {
      drops += 1;
      cached.clear();
    },
  };
}
