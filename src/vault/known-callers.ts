import { setTimeout as wait } from 'node:timers/promises';
import type { Caller } from '../domain/access/caller.js';

const lifeMs = 1_000;
const entriesMax = 10_000;
/** Additional time to wait after a change, because a look-up that began before the change can end shortly after it. */
const spareMs = 200;

/**
 * The caller that a key belongs to. `expiresAt` is the time at which the application expires, in milliseconds since the
 * epoch. It is null if the application never expires.
 */
export type KnownCaller = { readonly caller: Caller; readonly expiresAt: number | null };

/**
 * A cache of the callers for API keys and applications. An entry is valid for one second after its look-up. A command
 * that changes the directory calls `forget` after the change is stored and before the response is sent. When `forget`
 * resolves, no process accepts a key based on the tenant's earlier data. Pass monotonic times (`steadyNow`) as
 * `steady`.
 */
export type KnownCallers = {
  get(keyHash: string, steady: number): KnownCaller | undefined;
  /**
   * Returns a function that caches the result of a look-up, unless `forget` was called during the look-up. Call
   * `lookUp` before the look-up begins.
   */
  lookUp(steady: number): (keyHash: string, known: KnownCaller) => void;
  forget(tenantId: string): Promise<void>;
  /** Clears the cache. Call this if the store server that supplied the entries may no longer be the leader. */
  forgetAll(): void;
};

/**
 * Creates the cache. If `othersToo` is false, no other process uses the same data, so `forget` only drops entries. If
 * `othersToo` is true, other processes have caches, so `forget` additionally waits until the entries in those caches
 * have expired.
 */
export function createKnownCallers({ othersToo = false } = {}): KnownCallers {
  const entries = new Map<string, KnownCaller & { readonly until: number }>();
  let forgotten = 0;

  return {
    get(keyHash, steady) {
      const entry = entries.get(keyHash);
      return entry !== undefined && steady < entry.until ? entry : undefined;
    },
    lookUp(steady) {
      const before = forgotten;
      return (keyHash, known) => {
        // A look-up that began before a key was revoked must not cache the revoked key again.
        if (before !== forgotten) return;
        if (entries.size >= entriesMax) entries.clear();
        entries.set(keyHash, { ...known, until: steady + lifeMs });
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
