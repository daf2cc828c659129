import { setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import type { Vault } from '../vault/vault.js';

/** How long to retry after conflicts with other writers, before a 503. */
const patienceMs = 5_000;
const jitterMsMax = 50;

/** The result of one attempt. `lost`: another writer was first; load and decide again. */
export type Tried<T> = { readonly settled: true; readonly value: T } | { readonly settled: false };

export const lost: Tried<never> = { settled: false };

export function settled<T>(value: T): Tried<T> {
  return { settled: true, value };
}

/**
 * Queues commands on the same streams inside this process. After a conflict with another process, it retries with a random pause, for
 * up to 5 s. Then it throws StoreUnavailable.
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
