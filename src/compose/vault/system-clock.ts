import { uptime } from 'node:os';
import type { Clock } from '../../ports/clock.js';

/** Two readings of unequal clocks that differ by more are looked into. */
const lookIntoMs = 1_000;

/**
 * Returns the clock of this machine. Its `steady` time goes on while the machine is suspended, which the monotonic clock of
 * Node.js does not: a laptop that slept over night has not been stepped. The time since boot counts that, but reading it takes
 * a system call on a file, so it is read only when the two fast clocks disagree.
 */
export function systemClock(): Clock & { steady(): number } {
  const bootedAt = uptime() * 1_000 - performance.now();
  let ahead = Date.now() - performance.now();
  let suspendedMs = 0;
  return {
    now: () => Date.now(),
    steady(): number {
      const running = performance.now();
      const nowAhead = Date.now() - running;
      if (Math.abs(nowAhead - ahead) > lookIntoMs) {
        suspendedMs = Math.max(suspendedMs, uptime() * 1_000 - running - bootedAt);
        ahead = nowAhead;
      }
      return running + suspendedMs;
    },
  };
}
