import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'bullmq';
import type { DueRow } from '../../ports/token-rows.js';
import { connectRedis } from '../redis/connect-redis.js';
import { redisFailure } from '../redis/redis-failure.js';
import { onceAMinute } from '../time-limit/once-a-minute.js';
import { withinLimit } from '../time-limit/within-limit.js';
import { queueClientOptions, queueName } from './queue-settings.js';
import { dueRowOf } from './timer-job.js';

export type BullmqWorkerOptions = {
  readonly url: string;
  readonly prefix: string;
  /** Records what is due; it may be told of a row twice, or of one whose time was moved since. */
  readonly run: (row: DueRow) => Promise<void>;
  /** Told of every failure of `run`, and at most once a minute of Redis. */
  readonly onError: (error: unknown) => void;
  readonly concurrency?: number;
  /** How long `close` waits for what runs. */
  readonly closeMsMax?: number;
};

/** How long BullMQ waits after a failure of Redis. */
const retryMs = 1_000;
/** How long Redis may take to hear what has been done. */
const farewellMsMax = 2_000;

/**
 * Runs the timers that are due. A job that fails is not repeated, and its error does not go to Redis: the sweep finds
 * what is still to be done.
 */
export function bullmqWorker(options: BullmqWorkerOptions): { close(): Promise<void> } {
  const { url, prefix, run, onError, concurrency = 8, closeMsMax = 10_000 } = options;
  const report = onceAMinute(onError);
  const redis = connectRedis(url, queueClientOptions, report);
  const running = new Set<Promise<void>>();
  const record = async (row: DueRow): Promise<void> => {
    try {
      await run(row);
    } catch (error) {
      onError(error);
    }
  };
  const worker = new Worker<unknown, null>(
    queueName,
    async ({ data }) => {
      const row = dueRowOf(data);
      if (row === null) return null;
      const recording = record(row);
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
      // Jobs that have run are told of on the same connection, so before PING is answered.
      await nextTurn();
      await withinLimit('redis', farewellMsMax, redis.client.ping()).catch(() => undefined);
      // Without force it would wait for ever for a connection that is down (BullMQ 6.7).
      await withinLimit('redis', farewellMsMax, worker.close(true)).catch(() => undefined);
      redis.disconnect();
    },
  };
}
