import type { Clock } from '../../ports/clock.js';
import type { LimitName, RateLimits } from '../../ports/rate-limits.js';

type Window = { used: number; readonly endsAt: number };

/**
 * `RateLimits` of one process. It holds at most `subjectsMax` windows a limit: past that the oldest is forgotten, so a
 * flood of addresses costs no memory, and can reset no counter of an application.
 */
export function memoryRateLimits(clock: Clock, subjectsMax = 100_000): RateLimits {
  const windowsOf = new Map<LimitName, Map<string, Window>>();
  return {
    async use({ name, windowMs }, subject, weight) {
      const now = clock.now();
      const windows = windowsOf.get(name) ?? new Map<string, Window>();
      windowsOf.set(name, windows);
      const present = windows.get(subject);
      // One that ends later than a whole window from now was begun before the clock was set back.
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

/** The first of a Map came first, so its window ends first: two steps for each new one keep the rest clean. */
function makeRoom(windows: Map<string, Window>, now: number, subjectsMax: number): void {
  let steps = 0;
  for (const [subject, { endsAt }] of windows) {
    if (steps === 2 || (now < endsAt && windows.size < subjectsMax)) return;
    windows.delete(subject);
    steps += 1;
  }
}
