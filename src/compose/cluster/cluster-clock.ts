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
 * on what is due, whatever the clocks of their machines say. `primaryTime` asks for it, ms since the epoch.
 */
export async function clusterClock(
  primaryTime: () => Promise<number>,
  onError: (error: unknown) => void,
): Promise<ClusterClock> {
  /** By how much the time of MongoDB is ahead of the monotonic clock; as this machine has it, until MongoDB says otherwise. */
  let aheadMs = Date.now() - performance.now();
  let offMs = 0;
  const now = (): number => Math.round(performance.now() + aheadMs);

  /**
   * The answer was given at some moment between asking and having it, and during an election seconds lie between these. So it
   * moves the clock no further than it contradicts it.
   */
  async function compare(): Promise<void> {
    const askedAt = performance.now();
    const time = await primaryTime();
    const [least, most] = [time - performance.now(), time - askedAt];
    aheadMs = Math.min(Math.max(aheadMs, least), most);
    offMs = Date.now() - now();
  }

  await compare();
  // The first answer may have waited for an election or a connection.
  await compare();
  // Without MongoDB nothing is served; the monotonic clock goes on.
  const timer = setInterval(() => compare().catch(onError), compareEveryMs);
  timer.unref();
  return { marginMs, now, offMs: () => offMs, stop: () => clearInterval(timer) };
}
