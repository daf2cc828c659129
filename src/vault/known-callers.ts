import { setTimeout as wait } from 'node:timers/promises';
import type { Caller } from '../domain/access/caller.js';

const lifeMs = 1_000;
const entriesMax = 10_000;
/** A look-up that began before the change may end slightly after it. */
const spareMs = 200;

/** The caller that a key belongs to, and when its application expires, in milliseconds since the epoch. */
export type KnownCaller = { readonly caller: Caller; readonly expiresAt: number | null };

/**
 * A cache of API keys and applications that were looked up, for one second. A change of a directory calls `forget` after it is stored
 * and before it responds. Once `forget` resolves, no process accepts a key because of what it knew of the tenant
 * before.
 */
export type KnownCallers = {
  get(keyHash: string, now: number): KnownCaller | undefined;
  /**
   * Call this before a look-up. The returned function caches the result, unless `forget` was called in the meantime.
   */
  lookUp(now: number): (keyHash: string, known: KnownCaller) => void;
  forget(tenantId: string): Promise<void>;
  /** Clears the cache: the store that responded may have been deposed. */
  forgetAll(): void;
};

/**
 * If this process has the data to itself, `forget` only drops entries. With `othersToo`, other processes have caches as
 * well, and `forget` waits until all their entries have expired.
 */
export function createKnownCallers({ othersToo = false } = {}): KnownCallers {
  const entries = new Map<string, KnownCaller & { readonly until: number }>();
  let forgotten = 0;

  return {
    get(keyHash, now) {
      const entry = entries.get(keyHash);
      return entry !== undefined && now < entry.until ? entry : undefined;
    },
    lookUp(now) {
      const before = forgotten;
      return (keyHash, known) => {
        // Threat: a look-up that began before a revocation ends after it, and brings back what was revoked.
        if (before !== forgotten) return;
        if (entries.size >= entriesMax) entries.clear();
        entries.set(keyHash, { ...known, until: now + lifeMs });
      };
    },
    async forget(tenantId) {
      forgotten += 1;
      for (const [keyHash, { caller }] of [...entries]) if (caller.tenantId === tenantId) entries.delete(keyHash);
      if (othersToo) await wait(lifeMs + spareMs);
    },
    forgetAll() {
      forgotten += 1;
      entries.clear();
    },
  };
}
