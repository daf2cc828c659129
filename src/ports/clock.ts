/** The time. No code of ours reads it any other way, so that tests own it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * How far the clocks of two processes on the same data may be apart, ms; absent: one process has the data. What is due
   * is hidden so much earlier, and ended for good so much later, than this clock says.
   */
  readonly marginMs?: number;
}

/** The latest that it may be on any clock: from then on nothing that is due may be shown. */
export function latestNow(clock: Clock): number {
  return clock.now() + (clock.marginMs ?? 0);
}

/** The earliest that it may be on any clock: what is due by then may be ended for good. */
export function earliestNow(clock: Clock): number {
  return clock.now() - (clock.marginMs ?? 0);
}
