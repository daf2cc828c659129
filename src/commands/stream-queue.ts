export type StreamQueue = {
  /** Runs `work` after everything that was queued for this stream before. */
  run<T>(stream: string, work: () => Promise<T>): Promise<T>;
};

/** Commands on one stream take turns inside a process, so that only other processes can cause a conflict. */
export function createStreamQueue(): StreamQueue {
  const tails = new Map<string, Promise<unknown>>();
  return {
    run<T>(stream: string, work: () => Promise<T>): Promise<T> {
      const before = tails.get(stream);
      const mine = before === undefined ? work() : before.then(work, work);
      tails.set(stream, mine);
      const leave = (): void => {
        if (tails.get(stream) === mine) tails.delete(stream);
      };
      mine.then(leave, leave);
      return mine;
    },
  };
}
