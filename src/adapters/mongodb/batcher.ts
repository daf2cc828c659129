import { setImmediate as endOfTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../../ports/store-unavailable.js';

/**
 * The maximum number of items in a group. A group of this size is at most a few tens of megabytes, so that one call for
 * it stays within the time limit.
 */
const groupMax = 100;

/**
 * Sends items in groups, one group at a time, in order of arrival. Items that arrive while a group is being sent join
 * the next group, so no item waits for a group to fill. `send` returns one result per item, in the order of the items.
 * If `send` throws, all items in its group are rejected with that error. If the error is StoreUnavailable, all waiting
 * items are also rejected, because each further group would probably time out as well.
 */
export function batcher<T, R>(send: (group: readonly T[]) => Promise<readonly R[]>) {
  type Waiting = { readonly item: T; resolve(result: R): void; reject(error: unknown): void };
  const waiting: Waiting[] = [];
  let sending: Promise<void> | null = null;

  async function sendAll(): Promise<void> {
    // Items that are added in this turn of the event loop join the first group.
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
    /** Resolves when no group is being sent. */
    async idle(): Promise<void> {
      await sending;
    },
  };
}
