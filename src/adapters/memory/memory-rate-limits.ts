import type { Clock } from '../../ports/clock.js';
import type { LimitName, RateLimits } from '../../ports/rate-limits.js';

type Window = { used: number; readonly endsAt: number };

/**
 * Implements `RateLimits` for one process. Keeps at most `subjectsMax` windows per limit, and drops the oldest window
 * to make room for a new one. A flood of addresses therefore cannot exhaust memory. It cannot reset an application's
 * counter either, because each limit has its own windows.
 */
export function memoryRateLimits(clock: Clock, subjectsMax = 100_000): RateLimits {
  const windowsOf = new Map<LimitName, Map<string, Window>>();
  return {
    use({ name, windowMs }, subject, weight) {
      const now = clock.now();
      const windows = windowsOf.get(name) ?? new Map<string, Window>();
      windowsOf.set(name, windows);
      const present = windows.get(subject);
      // If a window ends more than one full window length from now, the clock was set back after the window began. A
      // new window then replaces it.
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
 * Drops up to two windows: any that have ended, and the oldest one if the map is full. A Map iterates in insertion
 * order, so the first window is the one that ends first. Dropping two for each new window is enough to keep the map
 * from growing.
 */
function makeRoom(windows: Map<string, Window>, now: number, subjectsMax: number): void {
  let steps = 0;
  for (const [subject, { endsAt }] of windows) {
    if (steps === 2 || (now < endsAt && windows.size < subjectsMax)) return;
    windows.delete(subject);
    steps += 1;
  }
}
