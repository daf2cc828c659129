import type { Clock } from '#src/ports/clock.js';

export type ManualClock = Clock & {
  /** Advances both the wall clock and the monotonic clock by this many ms. */
  advance(ms: number): void;
  /** Advances both clocks until the wall clock shows this time. */
  set(ms: number): void;
  /** Steps the wall clock by this many ms. The monotonic clock does not move. */
  step(ms: number): void;
};

/** Creates a clock that does not move until a test moves it. */
export function manualClock(startMs = Date.UTC(2026, 0, 31, 12)): ManualClock {
  let now = startMs;
  let steppedMs = 0;
  return {
    now: () => now,
    steady: () => now - steppedMs,
    advance(ms: number): void {
      now += ms;
    },
    set(ms: number): void {
      now = ms;
    },
    step(ms: number): void {
      now += ms;
      steppedMs += ms;
    },
  };
}
