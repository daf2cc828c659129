import { setImmediate as endOfTurn } from 'node:timers/promises';

/**
 * Hands items on in groups, one group at a time, in the order of their coming: what comes while a group is on its way goes
 * with the next one, so that nothing waits for company. `send` answers for each item of its group, by its index. When it throws,
 * its group and what waits are refused with that: the store does not answer, and each would only wait longer.
 */
export function inGroups<T, R>(send: (group: readonly T[]) => Promise<readonly R[]>) {
  type Waiting = { readonly item: T; resolve(result: R): void; reject(error: unknown): void };
  let waiting: Waiting[] = [];
  let sending: Promise<void> | null = null;

  async function sendAll(): Promise<void> {
    // Who comes in the same turn joins the first group.
    await endOfTurn();
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        const results = await send(group.map(({ item }) => item));
        for (const [index, { resolve }] of group.entries()) resolve(results[index] as R);
      } catch (error) {
        for (const { reject } of [...group, ...waiting.splice(0)]) reject(error);
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
