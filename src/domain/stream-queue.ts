export type StreamQueue = {
  /** Runs `work` after all work that was queued earlier for any of these streams. */
  run<T>(streams: readonly string[], work: () => Promise<T>): Promise<T>;
};

/**
 * Creates a queue that runs commands on the same stream one at a time within a process, so that only other processes
 * can cause a conflict. `streams` may also contain other names. A command on several streams joins all of their queues
 * at the same time. It waits only for commands that joined earlier, so deadlocks are impossible.
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
