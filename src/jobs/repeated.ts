/** All values are in ms. Each wait counts from the end of the work. */
type Times = {
  /** Returns the current time by a clock that is never set back. */
  readonly now: () => number;
  /** The wait after a success. */
  readonly intervalMs: number;
  /** The wait after the first failure. It doubles with each further failure, up to `retryMsMax`. */
  readonly retryMs: number;
  readonly retryMsMax: number;
};

/**
 * Returns a function that does the work if it is due, and otherwise nothing. Throws the errors of the work. If the work
 * returns `unfinished`, the next call continues it without a wait. The waits after failures grow, so that work that
 * fails every time takes little time and space in the log. Each wait starts when the work ends. If it started with the
 * work, it would expire while slow work is still running, for example when a store needs 5 s to fail, and the work would
 * be repeated without a pause.
 */
export function repeated<A extends readonly unknown[]>(
  { now, intervalMs, retryMs, retryMsMax }: Times,
  work: (...given: A) => Promise<unknown>,
): (...given: A) => Promise<void> {
  let nextAt = Number.NEGATIVE_INFINITY;
  let failures = 0;
  return async (...given) => {
    if (now() < nextAt) return;
    let waitMs = Math.min(retryMs * 2 ** failures, retryMsMax);
    failures += 1;
    try {
      waitMs = (await work(...given)) === 'unfinished' ? 0 : intervalMs;
      failures = 0;
    } finally {
      nextAt = now() + waitMs;
    }
  };
}
