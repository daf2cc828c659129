import { uptime } from 'node:os';
import type { Clock } from '../../ports/clock.js';

/** If the wall clock and Node.js's monotonic clock diverge by more than this, the time since boot is read. */
const lookIntoMs = 1_000;

/**
 * Returns this machine's clock. Unlike Node.js's monotonic clock, its `steady` time continues while the machine is
 * suspended, so a laptop that slept overnight does not seem to have had its clock stepped. The time since boot includes
 * suspension, but reading it is slow. It is therefore read only when the wall clock and the monotonic clock diverge.
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
