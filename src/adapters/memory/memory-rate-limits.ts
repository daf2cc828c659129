import type { Clock } from '../../ports/clock.js';
import type { LimitName, RateLimits } from '../../ports/rate-limits.js';

type Window = { used: number; readonly endsAt: number };

/**
 * Implements `RateLimits` for one process. Keeps at most `subjectsMax` windows per limit and drops the oldest beyond
 * that. A flood of addresses therefore can neither exhaust memory nor reset an application's counter.
 */
export function memoryRateLimits(clock: Clock, subjectsMax = 100_000): RateLimits {
  const windowsOf = new Map<LimitName, Map<string, Window>>();
  return {
    use({ name, windowMs }, subject, weight) {
      const now = clock.now();
      const windows = windowsOf.get(name) ?? new Map<string, Window>();
      windowsOf.set(name, windows);
      const present = windows.get(subject);
      // A window that ends more than one full window length from now began before the clock was set back.
      if (present !== undefined && now < present.endsAt && present.endsAt <= now + windowMs) {
        present.used = Math.max(0, present.used + weight);
        return { used: present.used, endsInMs: present.endsAt - now };
      }
      if (weight <= 0) return { used: 0, endsInMs: 0 };
      windows.delete(subject);
      makeRoom(windows, now, subjectsMax);
      windows.set(subject, { used: weight, endsAt: now + windowMs });
      return { used: weight, endsInMs: windowMs };
    },
  };
}

/**
 * Drops windows that have ended. A Map iterates in insertion order, so its first window ends first. Two steps per new
 * window are enough.
 */
function makeRoom(windows: Map<string, Window>, now: number, subjectsMax: number): void {
  let steps = 0;
  for (const [subject, { endsAt }] of windows) {
    if (steps === 2 || (now < endsAt && windows.size < subjectsMax)) return;
    windows.delete(subject);
    steps += 1;
  }
}
