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
  /** A client that does not queue commands that it cannot send: see `rateLimitClientOptions`. */
  readonly client: Redis;
  /** The prefix of all keys. */
  readonly prefix: string;
  readonly clock: Clock;
  /** The limits local to this process, used while Redis is unavailable. */
  readonly fallback: RateLimits;
  readonly onError: (error: unknown) => void;
  /** How far the clocks of two processes may differ, in ms. */
  readonly clocksApartMs?: number;
  /** How long one use of a limit waits for Redis. */
  readonly limitMs?: number;
  /** The pause after a Redis failure. */
  readonly pauseMs?: number;
};

/** The options for `client`. A use that cannot be sent now is counted locally, so it must not be sent later. */
export const rateLimitClientOptions: RedisClientOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};

/**
 * Implements `RateLimits` for all processes that share one Redis server. Each use runs one atomic script on a key that
 * contains a hash of the subject and expires with its window. While Redis is down or slow, the process counts locally.
 * After a pause, a single use tries Redis again.
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
      // Only one use at a time tests whether Redis is back, so that the others do not have to wait.
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
 * Performs `RateLimits.use` in one step. KEYS is the window. ARGV are the current time, the window length and the clock
 * margin, all in ms, and the weight. Returns the used weight and the window's remaining time in ms. The current time
 * comes from the calling process. If a stored window ends too late by no more than the margin, a process whose clock is
 * ahead started it. If it ends even later, a clock was set back, and the window is replaced.
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
