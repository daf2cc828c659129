import { uptime } from 'node:os';
import type { Clock } from '../../ports/clock.js';

/** The difference between two readings of the fast clocks above which the time since boot is read, ms. */
const lookIntoMs = 1_000;

/**
 * Returns the clock of this machine. Its `steady` time continues while the machine is suspended, unlike Node.js's
 * monotonic clock, so that a laptop that slept overnight does not appear to have had its clock stepped. The time since
 * boot includes suspension, but reading it takes a system call on a file, so it is read only when the two fast clocks
 * disagree.
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
