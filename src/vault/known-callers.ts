import { setTimeout as wait } from 'node:timers/promises';
import type { Caller } from '../domain/access/caller.js';

const lifeMs = 1_000;
const entriesMax = 10_000;
/** A look-up that began before the change may end a little after it. */
const spareMs = 200;

/** Who a key belongs to and when that application expires, milliseconds since the epoch. */
export type KnownCaller = { readonly caller: Caller; readonly expiresAt: number | null };

/**
 * What was looked up of API keys, for one second. A change of a directory calls `forget` after it is stored and before
 * it is answered: when it resolves, no process lets anybody in by what it knew of that tenant before.
 */
export type KnownCallers = {
  get(keyHash: string, now: number): KnownCaller | undefined;
  /** To be called before a look-up; the answer keeps what was found, unless something was forgotten meanwhile. */
  lookUp(now: number): (keyHash: string, known: KnownCaller) => void;
  forget(tenantId: string): Promise<void>;
  /** Lets go of all that was looked up: the store that answered may have been deposed. */
  forgetAll(): void;
};

/**
 * For a process that has the data to itself, forgetting is dropping. `othersToo`: other processes know callers as well, and
 * `forget` waits until all have had to look again.
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
        // Threat: a look-up that began before a revocation ends after it and brings back what was revoked.
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
