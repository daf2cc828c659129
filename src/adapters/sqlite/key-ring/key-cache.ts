import { LRUCache } from 'lru-cache';

const entriesMax = 10_000;
const lifeMs = 60_000;

/** Opened data keys, at most 10,000 and for at most a minute; each is zeroed when it leaves. */
export function createKeyCache() {
  const cache = new LRUCache<string, Buffer>({
    max: entriesMax,
    ttl: lifeMs,
    ttlAutopurge: false,
    dispose: (key) => void key.fill(0),
  });
  // A key that nobody asks for again must not outlive its minute either.
  const purge = setInterval(() => cache.purgeStale(), lifeMs / 4);
  purge.unref();
  return {
    get: (keyId: string): Buffer | undefined => cache.get(keyId),
    /** Takes the buffer over. */
    add: (keyId: string, key: Buffer): void => void cache.set(keyId, key),
    drop: (keyId: string): void => void cache.delete(keyId),
    close(): void {
      clearInterval(purge);
      cache.clear();
    },
  };
}
