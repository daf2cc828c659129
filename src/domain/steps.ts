/**
 * A computation that yields at each point where other work may run first. At each yield, its driver either continues at
 * once (`finish`) or lets other requests run in between (`Turns`).
 */
export type Steps<T> = Generator<void, T, void>;

/** Runs a computation to its end without a pause. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
