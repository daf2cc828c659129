import type { Clock } from '../../ports/clock.js';
import type { LimitName, RateLimits } from '../../ports/rate-limits.js';

type Window = { used: number; readonly endsAt: number };

/**
 * Implements `RateLimits` in the memory of one process. Stores at most `subjectsMax` windows per limit, and drops the
 * oldest window to make room for a new one. Requests from a very large number of addresses therefore cannot exhaust
 * memory. They also cannot reset an application's counter, because the windows of different limits are stored
 * separately.
 */
export function memoryRateLimits(clock: Clock, subjectsMax = 100_000): RateLimits {
  const windowsOf = new Map<LimitName, Map<string, Window>>();
  return {
    use({ name, windowMs }, subject, weight) {
      const now = clock.now();
      const windows = windowsOf.get(name) ?? new Map<string, Window>();
      windowsOf.set(name, windows);
      const present = windows.get(subject);
      // If a window ends later than one full window length from now, the clock has been set back since the window
      // began. In this case, a new window replaces it.
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
 * Drops at most two windows: windows that have ended and, if the map is full, the oldest window. A Map iterates in
 * insertion order, so the first window is the one that ends first. Dropping up to two windows for each new window is
 * enough to limit the size of the map.
 */
function makeRoom(windows: Map<string, Window>, now: number, subjectsMax: number): void {
  let steps = 0;
  for (const [subject, { endsAt }] of windows) {
    if (steps === 2 || (now < endsAt && windows.size < subjectsMax)) return;
    windows.delete(subject);
    steps += 1;
  }
}
