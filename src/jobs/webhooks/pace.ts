import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';

/** An estimate of the CPU time that one delivery for a small token takes across all threads, in ms. */
const deliveryMs = 0.6;
/**
 * A low estimate of the part of `deliveryMs` that is spent in this thread. If the estimate were too high, time for
 * requests would be counted as time for deliveries, and the thread would not seem busy.
 */
const ownMs = 0.25;
/** While this thread is busy, deliveries take at most 1/`share` of one processor's time. */
const share = 25;
/** The thread counts as busy if work other than deliveries takes more than this fraction of the time. */
const busyShare = 0.3;
const sampleMs = 100;
const restMsMax = 1_000;

/**
 * Slows down deliveries that would delay the requests that the same thread serves. Undelivered events wait in the log.
 */
export type Pace = {
  /**
   * Pauses after some deliveries, if the thread is busy with other work. `sharers` is the number of webhooks that are
   * delivering at the same time.
   */
  rest(deliveries: number, sharers: number): Promise<void>;
};

export function createPace(): Pace {
  let [sampled, sampledAt, since, isBusy] = [performance.eventLoopUtilization(), performance.now(), 0, false];
  let restedAt = Number.NEGATIVE_INFINITY;
  return {
    async rest(deliveries, sharers) {
      since += deliveries;
      const now = performance.now();
      if (now - sampledAt >= sampleMs) {
        const next = performance.eventLoopUtilization();
        const own = (since * ownMs) / (now - sampledAt);
        // After a period without deliveries, the sample covers that period and does not show whether the thread is busy
        // now. The thread therefore counts as busy until the next sample, because requests and their events often
        // arrive together.
        const isCurrent = now - restedAt < sampleMs;
        isBusy = !isCurrent || performance.eventLoopUtilization(next, sampled).utilization - own > busyShare;
        [sampled, sampledAt, since] = [next, now, 0];
      }
      if (isBusy) await wait(Math.min(restMsMax, deliveries * deliveryMs * share * sharers));
      restedAt = performance.now();
    },
  };
}
