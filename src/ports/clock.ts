/** The clock. All our code reads the time through it, so that tests can control it. */
export interface Clock {
  /** Returns milliseconds since the epoch. */
  now(): number;
  /**
   * Returns a monotonic time in milliseconds, which no step of the clock changes and which goes on while the machine is
   * suspended. Absent if `now` is never stepped.
   */
  steady?(): number;
  /** Returns the latest time that it may be. Absent if `now` is exact. */
  latest?(): number;
  /** Returns the time up to which irreversible actions are safe. Absent if `now` is exact and trusted. */
  earliest?(): number;
  /**
   * Returns how far the time scale of verification codes is ahead of `now`, in milliseconds. It grows by every backward
   * step of the clock, so that such a step does not extend the hour of a code. If absent, 0.
   */
  codesAhead?(): number;
  /**
   * Return `latest` and `earliest` on the time scale of verification codes. If absent, these are `latest` and
   * `earliest` plus `codesAhead`.
   */
  latestForCodes?(): number;
  earliestForCodes?(): number;
}

/** Returns the latest time that it may be: nothing that is due by then may be shown. */
export function latestNow(clock: Clock): number {
  return clock.latest?.() ?? clock.now();
}

/** Returns the time up to which due data may be destroyed and old data forgotten. */
export function earliestNow(clock: Clock): number {
  return clock.earliest?.() ?? clock.now();
}

/** Returns a time in milliseconds for measuring how long something took. */
export function steadyNow(clock: Clock): number {
  return clock.steady?.() ?? clock.now();
}

/** Returns `Clock.codesAhead`. */
export function codesAhead(clock: Clock): number {
  return clock.codesAhead?.() ?? 0;
}

/** Returns `latestNow` on the time scale of verification codes, whose purge times are compared with it. */
export function latestForCodes(clock: Clock): number {
  return clock.latestForCodes?.() ?? latestNow(clock) + codesAhead(clock);
}

/** Returns `earliestNow` on the time scale of verification codes. */
export function earliestForCodes(clock: Clock): number {
  return clock.earliestForCodes?.() ?? earliestNow(clock) + codesAhead(clock);
}
