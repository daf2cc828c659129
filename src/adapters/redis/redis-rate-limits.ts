import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Clock } from '../../ports/clock.js';
import type { Limit, RateLimits, Used } from '../../ports/rate-limits.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { onceAMinute } from '../time-limit/once-a-minute.js';
import { withinLimit } from '../time-limit/within-limit.js';
import type { RedisClientOptions } from './connect-redis.js';
import { redisFailure } from './redis-failure.js';

type RedisRateLimitsOptions = {
  /** A client that does not queue what it cannot send: see `rateLimitClientOptions`. */
  readonly client: Redis;
  /** The prefix of all keys. */
  readonly prefix: string;
  readonly clock: Clock;
  /** The limits of this process, which count while Redis is unavailable. */
  readonly fallback: RateLimits;
  readonly onError: (error: unknown) => void;
  /** How far the clocks of two processes may differ, ms. */
  readonly clocksApartMs?: number;
  /** How long a use waits for Redis. */
  readonly limitMs?: number;
  /** The pause after a failure of Redis. */
  readonly pauseMs?: number;
};

/** A use that cannot be sent now is counted locally, so it must not be sent later. */
export const rateLimitClientOptions: RedisClientOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};

/**
 * `RateLimits` for all processes on one Redis. Each use runs one atomic script on a key that expires with its window
 * and contains a hash of the subject. While Redis is down or slow, the process counts locally. After a pause, a single
 * use tries Redis again.
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
      // Only one use at a time tests whether Redis is back, so that the others need not wait.
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

/**
 * `RateLimits.use` in one step. KEYS is the window. ARGV are the current time, the length of a window and the clock
 * margin, all in ms, and the weight. Returns the used weight and the remaining time of the window in ms. The time is
 * that of the calling process. A window that ends late by up to the margin was started by a process whose clock is
 * ahead. A window that ends later still comes from a clock that was set back, and is replaced.
 */
const countUse = `
local now, length, margin, weight = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local stored = redis.call('HMGET', KEYS[1], 'used', 'ends_at')
local used, ends_at = tonumber(stored[1] or ''), tonumber(stored[2] or '')
if used and ends_at and now < ends_at and ends_at <= now + length + margin then
  if weight ~= 0 then
    used = math.max(0, used + weight)
    redis.call('HSET', KEYS[1], 'used', used)
  end
  return {used, math.min(length, ends_at - now)}
end
if weight <= 0 then return {0, 0} end
redis.call('HSET', KEYS[1], 'used', weight, 'ends_at', now + length)
redis.call('PEXPIRE', KEYS[1], length + margin)
return {weight, length}
`;
