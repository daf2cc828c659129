import { setImmediate as nextTurn } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { z } from 'zod';
import { connectRedis } from '../redis/connect-redis.js';
import { redisFailure } from '../redis/redis-failure.js';
import { onceAMinute } from '../time-limit/once-a-minute.js';
import { withinLimit } from '../time-limit/within-limit.js';
import { queueClientOptions } from './queue-settings.js';

const webhooksQueue = 'webhooks';

/** A job for a webhook that has events to deliver, up to a position in the log. The job does not name any token. */
export type WebhookJob = { readonly tenantId: string; readonly webhookId: string; readonly position: number };

const webhookJob = z.strictObject({ tenantId: z.string(), webhookId: z.string(), position: z.number() });

type Options = {
  readonly url: string;
  /** The prefix of every key. */
  readonly prefix: string;
  /** Called at most once a minute. */
  readonly onError: (error: unknown) => void;
  readonly limitMs?: number;
};

/**
 * Distributes webhook deliveries to all workers as BullMQ jobs. At most one job per webhook is waiting or running, so
 * its events stay in order. Correctness does not depend on jobs: each webhook's checkpoint records what is left to
 * deliver.
 */
export function bullmqWebhooks({ url, prefix, limitMs = 2_000, ...options }: Options) {
  const report = onceAMinute(options.onError);
  const redis = connectRedis(url, queueClientOptions, report);
  const queue = new Queue<WebhookJob>(webhooksQueue, { prefix, connection: redis.client });
  queue.on('error', (error) => report(redisFailure(error)));
  let unanswered = 0;
  return {
    /** Returns false if Redis did not accept the job in time. The caller then does the work itself. */
    async carry(job: WebhookJob): Promise<boolean> {
      // Calls to a server that is down queue up in the client, so only one call at a time tests whether Redis is back.
      if (unanswered > 0) return false;
      const opts = { jobId: job.webhookId, attempts: 1, removeOnComplete: true, removeOnFail: true };
      const added = queue.add(webhooksQueue, job, opts);
      try {
        await withinLimit('redis', limitMs, added);
        return true;
      } catch (error) {
        unanswered += 1;
        added
          .catch(() => undefined)
          .finally(() => {
            unanswered -= 1;
          });
        report(redisFailure(error));
        return false;
      }
    },
    async close(): Promise<void> {
      await withinLimit('redis', limitMs, queue.close()).catch(() => undefined);
      redis.disconnect();
    },
  };
}

type WorkerOptions = Options & {
  /** Delivers the events that are due. It may be called for a webhook that has nothing to deliver or was deleted. */
  readonly run: (job: WebhookJob) => Promise<void>;
  /**
   * How many webhooks this process works on at a time. The number is high because most of the time is spent waiting for
   * receivers.
   */
  readonly concurrency?: number;
};

const closeMsMax = 12_000;
const farewellMsMax = 2_000;

/** Runs webhook jobs. A failed job is not retried: the leader adds a new one. */
export function bullmqWebhookWorker({ url, prefix, run, onError, concurrency = 1_000 }: WorkerOptions) {
  const report = onceAMinute(onError);
  const redis = connectRedis(url, queueClientOptions, report);
  const running = new Set<Promise<void>>();
  const worker = new Worker<unknown, null>(
    webhooksQueue,
    async ({ data }) => {
      const job = webhookJob.safeParse(data).data;
      if (job === undefined) return null;
      const work = run(job).catch(onError);
      running.add(work);
      await work;
      running.delete(work);
      return null;
    },
    { prefix, concurrency, connection: redis.client, runRetryDelay: 1_000 },
  );
  worker.on('error', (error) => report(redisFailure(error)));
  return {
    async close(): Promise<void> {
      await worker.pause(true);
      await withinLimit('redis', closeMsMax, Promise.allSettled(running)).catch(() => undefined);
      await nextTurn();
      await withinLimit('redis', farewellMsMax, redis.client.ping()).catch(() => undefined);
      // Without force, `close` would wait forever for a connection that is down (BullMQ 6.7).
      await withinLimit('redis', farewellMsMax, worker.close(true)).catch(() => undefined);
      redis.disconnect();
    },
  };
}
