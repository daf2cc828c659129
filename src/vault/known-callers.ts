import { setTimeout as wait } from 'node:timers/promises';
import type { Caller } from '../domain/access/caller.js';

const lifeMs = 1_000;
const entriesMax = 10_000;
/** Extra time to wait, because a look-up that began before a change may end slightly after the change. */
const spareMs = 200;

/**
 * The caller that a key belongs to. `expiresAt` is the time when the application expires, in milliseconds since the
 * epoch, or null if it never expires.
 */
export type KnownCaller = { readonly caller: Caller; readonly expiresAt: number | null };

/**
 * A cache that keeps the callers for API keys and applications for one second after their look-up. A command that
 * changes the directory calls `forget` after the change is stored and before the response is sent. Once `forget`
 * resolves, no process accepts a key because of the tenant's earlier data.
 */
export type KnownCallers = {
  get(keyHash: string, now: number): KnownCaller | undefined;
  /**
   * Call this before a look-up. The returned function caches the look-up's result, unless `forget` was called in the
   * meantime.
   */
  lookUp(now: number): (keyHash: string, known: KnownCaller) => void;
  forget(tenantId: string): Promise<void>;
  /** Clears the cache. Use this when the server that supplied the entries may have been deposed. */
  forgetAll(): void;
};

/**
 * Creates the cache. If no other process uses the same data, `forget` only drops entries. If `othersToo` is true, other
 * processes have caches as well, so `forget` also waits until the entries in those caches have expired.
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
        // Threat: a look-up that began before a key was revoked, and ended after that, would cache the revoked key
        // again.
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
