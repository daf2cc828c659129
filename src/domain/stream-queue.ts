export type StreamQueue = {
  /** Runs `work` after all work that was queued earlier for any of these streams. */
  run<T>(streams: readonly string[], work: () => Promise<T>): Promise<T>;
};

/**
 * Runs commands on the same stream (or on anything else that has a name) one at a time within a process, so that only
 * other processes can cause a conflict. A command on several streams enters all of their queues in one step and waits
 * only for earlier commands, so there are no deadlocks.
 */
export function createStreamQueue(): StreamQueue {
  const tails = new Map<string, Promise<unknown>>();
  return {
    run<T>(streams: readonly string[], work: () => Promise<T>): Promise<T> {
      const before = streams.map((stream) => tails.get(stream)).filter((tail) => tail !== undefined);
      const mine = before.length === 0 ? work() : Promise.allSettled(before).then(work);
      for (const stream of streams) tails.set(stream, mine);
      const leave = (): void => {
        for (const stream of streams) if (tails.get(stream) === mine) tails.delete(stream);
      };
      mine.then(leave, leave);
      return mine;
    },
  };
}
