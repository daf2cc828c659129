import type { Clock } from '#src/ports/clock.js';

export type ManualClock = Clock & {
  /** Lets time pass. */
  advance(ms: number): void;
  /** Lets time pass until a given time. */
  set(ms: number): void;
  /** Sets the clock without letting time pass. */
  step(ms: number): void;
};

/** Creates a clock that stands still until the test moves it. */
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
