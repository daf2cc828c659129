import { bullmqTimers, bullmqTimerWorker, soonMs } from '../../adapters/bullmq/bullmq-timers.js';
import { bullmqWebhooks, bullmqWebhookWorker, type WebhookJob } from '../../adapters/bullmq/bullmq-webhooks.js';
import { connectRedis } from '../../adapters/redis/connect-redis.js';
import { redisFailure } from '../../adapters/redis/redis-failure.js';
import { rateLimitClientOptions, redisRateLimits } from '../../adapters/redis/redis-rate-limits.js';
import { type Clock, latestNow } from '../../ports/clock.js';
import type { RateLimits } from '../../ports/rate-limits.js';
import type { FoundProblem } from '../../ports/store-problem.js';
import type { DueRow, TokenRows } from '../../ports/token-rows.js';

const refilledMax = 1_000;
/** The key expires soon, in case nothing asks for the state any longer. */
const writesAKey = `return redis.call('SET', KEYS[1], '', 'PX', 60000)`;

type Deps = {
  readonly url: string;
  readonly prefix: string;
  readonly clock: Clock;
  readonly fallback: RateLimits;
  /** How long a use of a rate limit waits for Redis, in ms. */
  readonly rateLimitWaitMs?: number | undefined;
  readonly onError: (error: unknown) => void;
};

/**
 * Opens the features that Redis provides: timers, distributed webhook delivery, and rate limits that all processes
 * share. While Redis is down, timers are late, the leader delivers all webhooks, and each process counts requests for
 * the rate limits separately.
 */
export function openRedis({ url, prefix, clock, fallback, rateLimitWaitMs: limitMs, onError }: Deps) {
  const timers = bullmqTimers({ url, prefix, clock, onError });
  const connection = connectRedis(url, rateLimitClientOptions, () => undefined);
  const rateLimits = redisRateLimits({ client: connection.client, prefix, clock, fallback, limitMs, onError });
  const webhooks = bullmqWebhooks({ url, prefix, onError });
  let worker: { close(): Promise<void> } | null = null;
  let webhookWorker: { close(): Promise<void> } | null = null;

  return {
    timers,
    rateLimits,
    carryWebhook: webhooks.carry,
    /**
     * Checks that Redis stores what a script of this user writes, as timers and rate limits require. A full Redis, a
     * replica, and a user without a right all still respond to PING. Returns the problem if Redis rejects the script.
     */
    async prove(): Promise<'ok' | FoundProblem> {
      try {
        await connection.client.eval(writesAKey, 1, `${prefix}:health`);
        return 'ok';
      } catch (error) {
        if (!(error instanceof Error && error.name === 'ReplyError')) throw error;
        return {
          check: 'stores',
          says: `Redis rejects writes (${redisFailure(error).reason}), so timers are late and limits count per process`,
          do: 'Check the memory of Redis, that it is not a replica, and the rights of the user of redis.url',
        };
      }
    },
    /** Sets the timers again for all rows that are due within `soonMs`, because Redis may have lost these timers. */
    async refill(rows: Pick<TokenRows, 'due'>): Promise<void> {
      await timers.refill(await rows.due(latestNow(clock) + soonMs, refilledMax));
    },
    work(run: (row: DueRow) => Promise<void>, onWorkError: (error: unknown) => void): void {
      worker ??= bullmqTimerWorker({ url, prefix, run, onError: onWorkError });
    },
    workOnWebhooks(run: (job: WebhookJob) => Promise<void>, onWorkError: (error: unknown) => void): void {
      webhookWorker ??= bullmqWebhookWorker({ url, prefix, run, onError: onWorkError });
    },
    async stopWork(): Promise<void> {
      // Each of them can take 14 s if its jobs or Redis hang.
      await Promise.all([webhookWorker?.close(), worker?.close()]);
      webhookWorker = null;
      worker = null;
    },
    async close(): Promise<void> {
      await timers.close();
      await webhooks.close();
      connection.disconnect();
    },
  };
}
