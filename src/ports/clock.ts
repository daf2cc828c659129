/** The clock. All our code reads the time through this interface, so that tests can control the time. */
export interface Clock {
  /** Returns the time in milliseconds since the epoch. */
  now(): number;
  /**
   * Returns a monotonic time in milliseconds. Clock steps do not affect it, and it keeps running while the machine is
   * suspended. Absent if the clock that `now` reads is never stepped.
   */
  steady?(): number;
  /** Returns the latest possible value of the current time. Absent if `now` is exact. */
  latest?(): number;
  /**
   * Returns the earliest possible value of the current time, for irreversible actions. Absent if `now` is exact and
   * trusted.
   */
  earliest?(): number;
  /**
   * Returns how far the time scale for verification codes is ahead of `now`, in milliseconds. When the clock is set
   * back, this difference grows by the same amount, so a code does not live longer than one hour. If this method is
   * absent, the difference is 0.
   */
  codesAhead?(): number;
  /**
   * Return `latest` and `earliest` on the time scale for verification codes. If these methods are absent, `codesAhead`
   * is added to `latest` and `earliest` instead.
   */
  latestForCodes?(): number;
  earliestForCodes?(): number;
}

/**
 * Returns the latest possible value of the current time, in whole milliseconds, because stores accept no others. Data
 * that is due by this time must not be shown.
 */
export function latestNow(clock: Clock): number {
  return Math.ceil(clock.latest?.() ?? clock.now());
}

/**
 * Returns the earliest possible value of the current time, in whole milliseconds, because stores accept no others. Use
 * this time to decide whether data is due to be destroyed or old enough to be removed.
 */
export function earliestNow(clock: Clock): number {
  return Math.floor(clock.earliest?.() ?? clock.now());
}

/**
 * Returns the times of a command on a token (`TokenCommand`): `at`, and the times up to which due data may be destroyed.
 */
export function timesOf(clock: Clock, at: number) {
  return { at, endsUpTo: earliestNow(clock), codesEndUpTo: earliestForCodes(clock) };
}

/** Returns a monotonic time in milliseconds. Use it to measure durations. */
export function steadyNow(clock: Clock): number {
  return clock.steady?.() ?? clock.now();
}

/** Returns `Clock.codesAhead`, or 0 if the clock does not have this method. */
export function codesAhead(clock: Clock): number {
  return clock.codesAhead?.() ?? 0;
}

/** Returns `latestNow` on the time scale for verification codes. Compare the purge times of codes with this time. */
export function latestForCodes(clock: Clock): number {
  return clock.latestForCodes?.() ?? latestNow(clock) + codesAhead(clock);
}

/** Returns `earliestNow` on the time scale for verification codes. */
export function earliestForCodes(clock: Clock): number {
  return clock.earliestForCodes?.() ?? earliestNow(clock) + codesAhead(clock);
}
