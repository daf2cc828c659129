import { LRUCache } from 'lru-cache';

const entriesMax = 10_000;
/**
 * How long, in ms, a cache entry is valid. A key stays in the cache for at most one minute, which is the sum of this
 * time, the purge interval and the TTL resolution.
 */
const lifeMs = 44_000;
const purgeMs = 15_000;
const ttlResolutionMs = 1_000;

/**
 * An unwrapped key. `revision` is the newest revision that this process has read or recorded for the key. It is null if
 * there is no such revision.
 */
export type OpenKey = { readonly key: Buffer; readonly revision: number | null };

type Entry = { readonly tenantId: string; readonly key: Buffer; revision: number | null };

/** Caches up to 10,000 unwrapped data keys, each for at most one minute. A key is zeroed when it leaves the cache. */
export function createKeyCache() {
  const cache = new LRUCache<string, Entry>({
    max: entriesMax,
    ttl: lifeMs,
    // With a finer resolution, the cache would set a new timer for each millisecond in which a key is used.
    ttlResolution: ttlResolutionMs,
    ttlAutopurge: false,
    dispose: ({ key }) => void key.fill(0),
  });
  /** The store reads that are in progress. A read is stale if its key was dropped after the read began. */
  const reads = new Set<{ readonly tenantId: string; readonly keyId: string; isStale: boolean }>();

  // Without this timer, a key that is never requested again would stay in the cache.
  const purge = setInterval(() => cache.purgeStale(), purgeMs);
  purge.unref();
  return {
    /**
     * Returns a cached key, but only if it belongs to this tenant. Threat: an attacker makes the vault use the id of a
     * key that belongs to a different tenant.
     */
    get(tenantId: string, keyId: string): OpenKey | undefined {
      const entry = cache.get(keyId);
      return entry?.tenantId === tenantId ? entry : undefined;
    },
    /** Adds a key to the cache. The cache takes ownership of the buffer. */
    add: (tenantId: string, keyId: string, key: Buffer, revision: number | null): void =>
      void cache.set(keyId, { tenantId, key, revision }),
    /** Records a newer revision for a cached key. */
    advance(keyId: string, revision: number): void {
      const entry = cache.peek(keyId);
      if (entry !== undefined && (entry.revision ?? -1) < revision) entry.revision = revision;
    },
    /**
     * Registers a store read that is about to begin, and returns a function to call when the read is done. Pass the key
     * to this function, or null if the read found no key.
     *
     * The function caches the key, takes ownership of the buffer and returns true. If the key was dropped during the
     * read, the function returns false, and the buffer still belongs to the caller. This prevents a read that began
     * before the destruction of a key from putting the key back into the cache.
     */
    reading(tenantId: string, keyId: string): (found: OpenKey | null) => boolean {
      const read = { tenantId, keyId, isStale: false };
      reads.add(read);
      return (found) => {
        reads.delete(read);
        if (found === null || read.isStale) return false;
        cache.set(keyId, { tenantId, ...found });
        return true;
      };
    },
    drop(keyId: string): void {
      cache.delete(keyId);
      for (const read of reads) if (read.keyId === keyId) read.isStale = true;
    },
    dropTenant(tenantId: string): void {
      for (const read of reads) if (read.tenantId === tenantId) read.isStale = true;
      for (const [keyId, entry] of [...cache.entries()]) if (entry.tenantId === tenantId) cache.delete(keyId);
    },
    clear(): void {
      for (const read of reads) read.isStale = true;
      cache.clear();
    },
    close(): void {
      clearInterval(purge);
      cache.clear();
    },
  };
}
