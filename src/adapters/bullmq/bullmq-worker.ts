import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'bullmq';
import type { DueRow } from '../../ports/token-rows.js';
import { connectRedis } from '../redis/connect-redis.js';
import { redisFailure } from '../redis/redis-failure.js';
import { onceAMinute } from '../shared/once-a-minute.js';
import { withinLimit } from '../shared/within-limit.js';
import { queueClientOptions, queueName } from './queue-settings.js';
import { dueRowOf } from './timer-job.js';

export type BullmqWorkerOptions = {
  readonly url: string;
  readonly prefix: string;
  /**
   * Records the expiry or cvc purge that is due for a row. The worker can call this twice for the same row, and for a
   * row whose due time has changed since the job was added.
   */
  readonly run: (row: DueRow) => Promise<void>;
  /** Called for every failure of `run`, and at most once a minute for Redis failures. */
  readonly onError: (error: unknown) => void;
  readonly concurrency?: number;
  /** How long `close` waits for running jobs, in ms. */
  readonly closeMsMax?: number;
};

/** How long BullMQ waits before it retries after a Redis failure, in ms. */
const retryMs = 1_000;
/** How long `close` waits for Redis to receive the results of finished jobs, in ms. */
const farewellMsMax = 2_000;

/**
 * Runs the jobs of due timers. A failed job is not retried, because the sweep handles its row. A failed job's error is
 * not sent to Redis.
 */
export function bullmqWorker(options: BullmqWorkerOptions): { close(): Promise<void> } {
  const { url, prefix, run, onError, concurrency = 8, closeMsMax = 10_000 } = options;
  const report = onceAMinute(onError);
  const redis = connectRedis(url, queueClientOptions, report);
  const running = new Set<Promise<void>>();
  const worker = new Worker<unknown, null>(
    queueName,
    async ({ data }) => {
      const row = dueRowOf(data);
      if (row === null) return null;
      const recording = run(row).catch(onError);
      running.add(recording);
      await recording;
      running.delete(recording);
      return null;
    },
    { prefix, concurrency, connection: redis.client, runRetryDelay: retryMs },
  );
  worker.on('error', (error) => report(redisFailure(error)));
  return {
    async close() {
      await worker.pause(true);
      await withinLimit('redis', closeMsMax, Promise.allSettled(running)).catch(() => undefined);
      // Waits until Redis responds to PING. The results of finished jobs were sent on the same connection before PING,
      // so a response means that Redis has received them.
      await nextTurn();
      await withinLimit('redis', farewellMsMax, redis.client.ping()).catch(() => undefined);
      // Forces the worker to close. Without `force`, `close` waits forever if the connection is down (BullMQ 6.7).
      await withinLimit('redis', farewellMsMax, worker.close(true)).catch(() => undefined);
      redis.disconnect();
    },
  };
}
