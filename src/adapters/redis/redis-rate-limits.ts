import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Clock } from '../../ports/clock.js';
import type { Limit, RateLimits, Used } from '../../ports/rate-limits.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { onceAMinute } from '../time-limit/once-a-minute.js';
import { withinLimit } from '../time-limit/within-limit.js';
import type { RedisClientOptions } from './connect-redis.js';
import { countUse } from './count-use.js';
import { redisFailure } from './redis-failure.js';

export type RedisRateLimitsOptions = {
  /** A client that does not queue what it cannot send: see `rateLimitClientOptions`. */
  readonly client: Redis;
  /** The first part of every key. */
  readonly prefix: string;
  readonly clock: Clock;
  /** Counts while Redis does not: the limits of this process alone. */
  readonly fallback: RateLimits;
  readonly onError: (error: unknown) => void;
  /** How far the clocks of two processes may differ, ms. */
  readonly clocksApartMs?: number;
  /** How long a use waits for Redis. */
  readonly limitMs?: number;
  /** How long Redis is left alone after a failure. */
  readonly pauseMs?: number;
};

/** A use that cannot be sent now is counted elsewhere, so it must not be sent later. */
export const rateLimitClientOptions: RedisClientOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};

/**
 * `RateLimits` for all processes on one Redis: each use is one atomic script on a key that ends with its window and holds
 * a hash of the subject. While Redis is down or slow it counts in the process; after a pause one use tries Redis again.
 */
export function redisRateLimits(options: RedisRateLimitsOptions): RateLimits {
  const { client, prefix, clock, fallback, clocksApartMs = 2_000, limitMs = 200, pauseMs = 1_000 } = options;
  const report = onceAMinute(options.onError);
  let restsUntil = Number.NEGATIVE_INFINITY;

  async function count({ name, windowMs }: Limit, subject: string, weight: number): Promise<Used> {
    const key = `${prefix}:limit:${name}:${createHash('sha256').update(subject).digest('base64url')}`;
    const answer = await client.eval(countUse, 1, key, clock.now(), windowMs, clocksApartMs, weight);
    const [used, endsInMs] = Array.isArray(answer) ? answer : [];
    if (typeof used !== 'number' || typeof endsInMs !== 'number') throw new StoreUnavailable('redis', 'odd_answer');
    return { used, endsInMs };
  }

  return {
    async use(limit, subject, weight) {
      const isProbe = restsUntil > Number.NEGATIVE_INFINITY;
      if (performance.now() < restsUntil) return fallback.use(limit, subject, weight);
      // One at a time tries whether Redis is back: the others need not wait for it.
      if (isProbe) restsUntil = performance.now() + pauseMs;
      try {
        const used = await withinLimit('redis', limitMs, count(limit, subject, weight));
        if (isProbe) restsUntil = Number.NEGATIVE_INFINITY;
        return used;
      } catch (error) {
        restsUntil = performance.now() + pauseMs;
        report(redisFailure(error));
        return fallback.use(limit, subject, weight);
      }
    },
  };
}
