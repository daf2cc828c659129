import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Clock } from '../../ports/clock.js';
import type { Limit, RateLimits, Used } from '../../ports/rate-limits.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { onceAMinute } from '../shared/once-a-minute.js';
import { withinLimit } from '../shared/within-limit.js';
import type { RedisClientOptions } from './connect-redis.js';
import { redisFailure } from './redis-failure.js';

type RedisRateLimitsOptions = {
  /** A client that was created with `rateLimitClientOptions`. It does not queue commands that it cannot send. */
  readonly client: Redis;
  /** The prefix of every Redis key. */
  readonly prefix: string;
  readonly clock: Clock;
  /** Counts uses in this process while Redis is unavailable. */
  readonly fallback: RateLimits;
  readonly onError: (error: unknown) => void;
  /** The maximum difference between the clocks of two processes, in ms. */
  readonly clocksApartMs?: number;
  /** How long `use` waits for Redis, in ms. */
  readonly limitMs?: number | undefined;
  /** How long to wait after a Redis failure before using Redis again, in ms. */
  readonly pauseMs?: number;
};

/**
 * The options for `client`. A use that cannot be sent immediately is counted in this process instead. Redis must not
 * count it again later, so the client does not queue or resend commands.
 */
export const rateLimitClientOptions: RedisClientOptions = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};

/**
 * Implements `RateLimits` for all processes that share one Redis server. Each use runs one atomic script on one key.
 * The key contains a hash of the subject and expires after its window has ended. While Redis is down or slow, each
 * process counts uses itself. After a pause, a single use tests whether Redis is available again.
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
      // Only one use at a time tests whether Redis is available again, so that the other uses do not have to wait for
      // Redis.
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
 * Implements `RateLimits.use` as one atomic script. KEYS[1] is the key of the window. ARGV contains the current time,
 * the window length and the clock margin, all in ms, and then the weight. Returns the weight used so far and the time
 * that remains in the window, in ms.
 *
 * The current time comes from the calling process. It can differ from the clock of the process that began the stored
 * window, so the window can end later than one window length from now. If it ends later by no more than the margin, the
 * clock of the other process is ahead, and the script uses the window. If it ends even later, a clock was set back, and
 * the script replaces the window.
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
