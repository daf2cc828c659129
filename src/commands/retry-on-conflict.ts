import { setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailable } from '../ports/store-unavailable.js';
import type { Vault } from '../vault/vault.js';

/** How long a command retries after conflicts with other writers. After this time, the response is 503. */
const patienceMs = 5_000;
const triesMin = 2;
const jitterMsMax = 50;

/**
 * The result of an attempt that failed because another writer committed first. The command is then retried, based on
 * the new state.
 */
export const conflict: unique symbol = Symbol('conflict');
export type Conflict = typeof conflict;

/**
 * Runs an attempt at a command. Within this process, commands on the same stream run one after another. If an attempt
 * conflicts with another process, waits for a random time and retries the command. Throws StoreUnavailable if conflicts
 * continue for 5 s and in at least two attempts.
 */
export function retryOnConflict<T>(
  { streams: queue, random }: Pick<Vault, 'streams' | 'random'>,
  streams: readonly string[],
  attempt: () => Promise<T | Conflict>,
): Promise<T> {
  return queue.run(streams, async () => {
    const until = performance.now() + patienceMs;
    // An attempt that waits for another command can use up the whole time. The next one finds what that command stored.
    for (let tries = 0; tries < triesMin || performance.now() < until; tries += 1) {
      const result = await attempt();
      if (result !== conflict) return result;
      await wait(1 + random.integer(jitterMsMax));
    }
    throw new StoreUnavailable('event log', 'race_not_settled');
  });
}
