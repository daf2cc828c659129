import type { Clock } from '#src/ports/clock.js';

/** A clock that stands still until the test moves it. */
export function manualClock(
  startMs = Date.UTC(2026, 0, 31, 12),
): Clock & { advance(ms: number): void; set(ms: number): void } {
  let now = startMs;
  return {
    now: () => now,
    advance(ms: number): void {
      now += ms;
    },
    set(ms: number): void {
      now = ms;
    },
  };
}
