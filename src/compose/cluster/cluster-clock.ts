import type { Clock } from '../../ports/clock.js';

/** Architecture, "Time": clocks of processes may differ by this much before one of them stops. */
export const marginMs = 2_000;
const compareEveryMs = 10_000;

export type ClusterClock = Clock & {
  readonly marginMs: number;
  /** How far the clock of this machine is off MongoDB's. */
  offMs(): number;
  stop(): void;
};

/**
 * The time of MongoDB, carried on by the monotonic clock of this process and compared every 10 s: so all processes agree
 * on what is due, whatever the clocks of their machines say. `clockAheadMs` answers by how much a given clock is ahead of MongoDB's.
 */
export async function clusterClock(
  clockAheadMs: (now: () => number) => Promise<number>,
  onError: (error: unknown) => void,
): Promise<ClusterClock> {
  const origin = Date.now() - performance.now();
  const own = (): number => origin + performance.now();
  let aheadMs = await clockAheadMs(own);
  let offMs = Date.now() - (own() - aheadMs);

  async function compare(): Promise<void> {
    try {
      aheadMs = await clockAheadMs(own);
      offMs = Date.now() - (own() - aheadMs);
    } catch (error) {
      // Without MongoDB nothing is served; the monotonic clock goes on.
      onError(error);
    }
  }

  const timer = setInterval(compare, compareEveryMs);
  timer.unref();
  return {
    marginMs,
    now: () => Math.round(own() - aheadMs),
    offMs: () => offMs,
    stop: () => clearInterval(timer),
  };
}
