import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../../ports/store-unavailable.js';

/**
 * The maximum number of items in a group. A group of this size is at most a few tens of megabytes, so the call that
 * sends it finishes within its time limit.
 */
const groupMax = 100;

/**
 * Creates a queue that sends items in groups, one group at a time and in the order of arrival. Items that arrive while
 * a group is being sent form the next group, so no item has to wait for a group to fill up. `send` returns one result
 * per item, in the order of the items. If `send` throws an error, all items in the group are rejected with this error.
 * If the error is StoreUnavailable, all waiting items are rejected too, because the next groups would probably also
 * time out.
 */
export function batcher<T, R>(send: (group: readonly T[]) => Promise<readonly R[]>) {
  type Waiting = { readonly item: T; resolve(result: R): void; reject(error: unknown): void };
  const waiting: Waiting[] = [];
  let sending: Promise<void> | null = null;

  async function sendAll(): Promise<void> {
    // Waits until the end of this turn of the event loop. Items that are added before then join the first group.
    await nextTurn();
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
    /** Resolves when no more groups are being sent. */
    async idle(): Promise<void> {
      await sending;
    },
  };
}
