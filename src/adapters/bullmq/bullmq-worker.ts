import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'bullmq';
import { connectRedis } from '../redis/connect-redis.js';
import { redisFailure } from '../redis/redis-failure.js';
import { onceAMinute } from '../shared/once-a-minute.js';
import { withinLimit } from '../shared/within-limit.js';
import { type QueuePlace, queueClientOptions } from './bullmq-queue.js';

/** What the owner of a worker sets, whatever the queue. */
export type WorkerOptions<Job> = QueuePlace & {
  /** Does the work of a job. The worker can call this twice for the same job. */
  readonly run: (job: Job) => Promise<void>;
  /** Called for every failure of `run`, and at most once a minute for Redis failures. */
  readonly onError: (error: unknown) => void;
};

type QueueOptions<Job> = {
  readonly queue: string;
  /** Returns the job that the data of a queue job contains, or null if the job was not added by the vault. */
  readonly jobOf: (data: unknown) => Job | null;
  /** The maximum number of jobs that this process runs at the same time. */
  readonly concurrency: number;
  /** How long `close` waits for running jobs, in ms. */
  readonly closeMsMax: number;
  readonly lockDuration?: number;
  readonly stalledInterval?: number;
};

/** How long BullMQ waits before it retries after a Redis failure, in ms. */
const retryMs = 1_000;
/** How long `close` waits for Redis to receive the results of finished jobs, in ms. */
const farewellMsMax = 2_000;

/** Runs the jobs of a queue. A failed job is not retried, and its error is not sent to Redis. */
export function bullmqWorker<Job>(
  { url, prefix, run, onError }: WorkerOptions<Job>,
  { queue, jobOf, closeMsMax, ...settings }: QueueOptions<Job>,
): { close(): Promise<void> } {
  const report = onceAMinute(onError);
  const redis = connectRedis(url, queueClientOptions, report);
  const running = new Set<Promise<void>>();
  const worker = new Worker<unknown, null>(
    queue,
    async ({ data }) => {
      const job = jobOf(data);
      if (job === null) return null;
      const work = run(job).catch(onError);
      running.add(work);
      await work;
      running.delete(work);
      return null;
    },
    { ...settings, prefix, connection: redis.client, runRetryDelay: retryMs },
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
