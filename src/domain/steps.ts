/**
 * A computation that yields wherever other work may run. At each yield, its driver either continues immediately
 * (`finish`) or lets other requests run first (`Turns`).
 */
export type Steps<T> = Generator<void, T, void>;

/** Runs a computation to its end without a pause. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
