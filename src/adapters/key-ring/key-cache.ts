import { LRUCache } from 'lru-cache';

const entriesMax = 10_000;
/** With the purge that comes after it, a minute. */
const lifeMs = 45_000;
const purgeMs = 15_000;

/** An opened key; `revision`: what was noted of it when it was read, or since by this process; null: nothing. */
export type OpenKey = { readonly key: Buffer; readonly revision: number | null };

type Entry = { readonly tenantId: string; readonly key: Buffer; revision: number | null };

/** Opened data keys, at most 10,000 and for at most a minute; each is zeroed when it leaves. */
export function createKeyCache() {
  const cache = new LRUCache<string, Entry>({
    max: entriesMax,
    ttl: lifeMs,
    ttlAutopurge: false,
    dispose: ({ key }) => void key.fill(0),
  });
  /** Reads of the store that are under way, where reading takes time. */
  const reads = new Set<{ readonly tenantId: string; readonly keyId: string; isStale: boolean }>();

  // A key that nobody asks for again must not outlive its minute either.
  const purge = setInterval(() => cache.purgeStale(), purgeMs);
  purge.unref();
  return {
    /** Threat: a key id of another tenant. A key that is open already is no more his than one that is not. */
    get(tenantId: string, keyId: string): OpenKey | undefined {
      const entry = cache.get(keyId);
      return entry?.tenantId === tenantId ? entry : undefined;
    },
    /** Takes the buffer over. */
    add: (tenantId: string, keyId: string, key: Buffer, revision: number | null): void =>
      void cache.set(keyId, { tenantId, key, revision }),
    /** Notes a newer revision of a key that is open. */
    advance(keyId: string, revision: number): void {
      const entry = cache.peek(keyId);
      if (entry !== undefined && (entry.revision ?? -1) < revision) entry.revision = revision;
    },
    /**
     * Announces a read of the store, which takes time. To be called with what was found (null: nothing): takes the buffer
     * over, or answers false and leaves it to the caller when the key was dropped meanwhile.
     * Threat: a read that began before a destruction ends after it and brings the key back.
     */
    reading(tenantId: string, keyId: string): (key: Buffer | null) => boolean {
      const read = { tenantId, keyId, isStale: false };
      reads.add(read);
      return (key) => {
        reads.delete(read);
        if (key === null || read.isStale) return false;
        cache.set(keyId, { tenantId, key, revision: null });
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
    clear: (): void => cache.clear(),
    close(): void {
      clearInterval(purge);
      cache.clear();
    },
  };
}
