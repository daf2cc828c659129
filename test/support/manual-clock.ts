import type { Clock } from '#src/ports/clock.js';

export type ManualClock = Clock & {
  /** Lets this many ms pass. */
  advance(ms: number): void;
  /** Lets time pass until the clock shows this time. */
  set(ms: number): void;
  /** Moves the clock by this many ms, without letting time pass. */
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
