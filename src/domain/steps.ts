/**
 * A computation that yields wherever other work may run. At each yield, its driver either continues immediately
 * (`finish`) or lets other requests run first (`Turns`).
 */
export type Steps<T> = Generator<void, T, void>;

/** How many characters or bytes a computation processes between two yields: less than a millisecond of work. */
const rangeLength = 32 * 1024;

/** Calls `work` with consecutive ranges from 0 to `length`, and yields between them. */
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

/** Runs a computation to its end without a pause. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
