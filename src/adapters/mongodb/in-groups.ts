import { setImmediate as endOfTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../../ports/store-unavailable.js';

/** What a group may come to in bytes stays some tens of megabytes, and a call of it within its time. */
const groupMax = 100;

/**
 * Hands items on in groups, one group at a time, in the order of their coming: what comes while a group is on its way goes
 * with the next one, so that nothing waits for company. `send` answers for each item of its group, by its index. What it throws
 * its group gets; what waits gets it, too, when the store is not to be had: each would only wait as long once more.
 */
export function inGroups<T, R>(send: (group: readonly T[]) => Promise<readonly R[]>) {
  type Waiting = { readonly item: T; resolve(result: R): void; reject(error: unknown): void };
  const waiting: Waiting[] = [];
  let sending: Promise<void> | null = null;

  async function sendAll(): Promise<void> {
    // Who comes in the same turn joins the first group.
    await endOfTurn();
    while (waiting.length > 0) {
      const group = waiting.splice(0, groupMax);
      try {
        const results = await send(group.map(({ item }) => item));
        for (const [index, { resolve }] of group.entries()) resolve(results[index] as R);
      } catch (error) {
        const refused = error instanceof StoreUnavailable ? [...group, ...waiting.splice(0)] : group;
        for (const { reject } of refused) reject(error);
      }
    }
    sending = null;
  }

  return {
    add: (item: T): Promise<R> =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        sending ??= sendAll();
      }),
    /** Resolves when nothing is on its way any more. */
    async idle(): Promise<void> {
      await sending;
    },
  };
}
