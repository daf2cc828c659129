import { setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import type { Vault } from '../vault/vault.js';

/** How long a race with other writers is fought before the answer is 503. */
const patienceMs = 5_000;
const jitterMsMax = 50;

/** What one try came to; `lost`: another writer was first, and everything is looked at again. */
export type Tried<T> = { readonly settled: true; readonly value: T } | { readonly settled: false };

export const lost: Tried<never> = { settled: false };

export function settled<T>(value: T): Tried<T> {
  return { settled: true, value };
}

/**
 * Commands on the same streams take turns inside this process; a race with another process is tried again, with a pause of
 * chance, until 5 s are spent. Throws StoreUnavailable then.
 */
export function settleRace<T>(vault: Vault, streams: readonly string[], attempt: () => Promise<Tried<T>>): Promise<T> {
  return vault.streams.run(streams, async () => {
    const until = performance.now() + patienceMs;
    do {
      const tried = await attempt();
      if (tried.settled) return tried.value;
      await wait(1 + vault.random.integer(jitterMsMax));
    } while (performance.now() < until);
    throw new StoreUnavailable('event log', 'race_not_settled');
  });
}
