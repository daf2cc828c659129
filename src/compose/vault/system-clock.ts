import { uptime } from 'node:os';
import type { Clock } from '../../ports/clock.js';

/** If the wall clock and Node.js's monotonic clock diverge by more than this time, the time since boot is read. */
const lookIntoMs = 1_000;

/**
 * Returns this machine's clock. Its `steady` time keeps running while the machine is suspended, unlike Node.js's
 * monotonic clock. A laptop that wakes up in the morning therefore does not report a clock step.
 *
 * The time since boot includes the time of suspension, but reading it is slow. It is read only when the wall clock and
 * the monotonic clock diverge.
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
