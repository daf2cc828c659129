/**
 * A computation that yields wherever other work may run. At each yield, the code that runs the computation either
 * continues it immediately (`finish`) or lets other requests run first (`Turns`).
 */
export type Steps<T> = Generator<void, T, void>;

/**
 * The number of characters or bytes that a computation processes between two yields. Processing this many takes less
 * than a millisecond.
 */
const rangeLength = 32 * 1024;

/** Calls `work` for consecutive ranges that together cover 0 to `length`, and yields between the calls. */
export function* inRanges(
  length: number,
  work: (from: number, to: number) => void,
  lengthMax = rangeLength,
): Steps<void> {
  for (let from = 0; from < length; from += lengthMax) {
    if (from > 0) yield;
    work(from, Math.min(from + lengthMax, length));
  }
}

/** Runs a computation to completion without pausing. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
