/**
 * A computation that yields wherever other work may run first. Its driver decides at each yield whether to continue at
 * once (`finish`) or to let other requests run in between (`Turns`).
 */
export type Steps<T> = Generator<void, T, void>;

/** Runs a computation to its end without a pause. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
