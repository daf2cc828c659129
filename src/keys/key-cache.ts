import { LRUCache } from 'lru-cache';

const entriesMax = 10_000;
/** Together with the purge interval and the resolution, this is at most a minute. */
const lifeMs = 44_000;
const purgeMs = 15_000;
const ttlResolutionMs = 1_000;

/** An opened key. `revision` was recorded when the key was read, or since by this process; null if there is none. */
export type OpenKey = { readonly key: Buffer; readonly revision: number | null };

type Entry = { readonly tenantId: string; readonly key: Buffer; revision: number | null };

/** Caches opened data keys, at most 10,000 and each for at most a minute. A key is zeroed when it leaves the cache. */
export function createKeyCache() {
  const cache = new LRUCache<string, Entry>({
    max: entriesMax,
    ttl: lifeMs,
    // A timer for each millisecond in which a key is used would cost more than the look-up.
    ttlResolution: ttlResolutionMs,
    ttlAutopurge: false,
    dispose: ({ key }) => void key.fill(0),
  });
  /** Pending reads of the store. */
  const reads = new Set<{ readonly tenantId: string; readonly keyId: string; isStale: boolean }>();

  // A key that is never requested again must also leave the cache within its minute.
  const purge = setInterval(() => cache.purgeStale(), purgeMs);
  purge.unref();
  return {
    /** Threat: a caller names the id of another tenant's key. So the tenant is checked for cached keys, too. */
    get(tenantId: string, keyId: string): OpenKey | undefined {
      const entry = cache.get(keyId);
      return entry?.tenantId === tenantId ? entry : undefined;
    },
    /** Takes ownership of the buffer. */
    add: (tenantId: string, keyId: string, key: Buffer, revision: number | null): void =>
      void cache.set(keyId, { tenantId, key, revision }),
    /** Records a newer revision of an open key. */
    advance(keyId: string, revision: number): void {
      const entry = cache.peek(keyId);
      if (entry !== undefined && (entry.revision ?? -1) < revision) entry.revision = revision;
    },
    /**
     * Announces a read of the store, which takes time. Call the returned function with the key that was found (null if
     * there is none). It takes ownership of the buffer. If the key was dropped during the read, it returns false and
     * leaves the buffer to the caller. Threat: a read that began before a destruction and ends after it would bring the
     * key back.
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
