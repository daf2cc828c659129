import { z } from 'zod';
import { redisFailure } from '../redis/redis-failure.js';
import { onceAMinute } from '../shared/once-a-minute.js';
import { withinLimit } from '../shared/within-limit.js';
import { bullmqQueue, type QueuePlace } from './bullmq-queue.js';
import { bullmqWorker, type WorkerOptions } from './bullmq-worker.js';

const webhooksQueue = 'webhooks';

/** A job that delivers a webhook's events up to a position in the log. The job contains no token id. */
export type WebhookJob = { readonly tenantId: string; readonly webhookId: string; readonly position: number };

const webhookJob = z.strictObject({ tenantId: z.string(), webhookId: z.string(), position: z.number() });

type Options = QueuePlace & {
  /** Called for Redis failures, but at most once a minute. */
  readonly onError: (error: unknown) => void;
  readonly limitMs?: number;
  /** The monotonic time, in ms. */
  readonly now?: () => number;
};

/** How often `carry` checks whether Redis still lists a webhook's job. */
const listedMs = 60_000;

/**
 * Distributes webhook deliveries to all workers as BullMQ jobs. For each webhook, at most one job is waiting or
 * running, so the webhook receives its events in order. Losing a job does not lose any events, because the webhook's
 * checkpoint records which events have not been delivered.
 */
export function bullmqWebhooks({ limitMs = 2_000, now = () => performance.now(), ...options }: Options) {
  const report = onceAMinute(options.onError);
  const { queue, disconnect } = bullmqQueue<WebhookJob>(webhooksQueue, options, report);
  let unanswered = 0;
  /** The webhooks whose jobs have been checked since `checkedAt`. */
  let checked = new Set<string>();
  let checkedAt = now();

  /**
   * Adds the job. Does nothing if the webhook already has a job. If Redis has lost its list of jobs but not the job, for
   * example because it evicts data, no worker would ever find that job, so it is replaced.
   */
  async function add(job: WebhookJob): Promise<void> {
    const { webhookId: jobId } = job;
    if (now() - checkedAt >= listedMs) {
      checked = new Set();
      checkedAt = now();
    }
    if (!checked.has(jobId)) {
      if ((await queue.getJobState(jobId)) === 'unknown') await queue.remove(jobId);
      checked.add(jobId);
    }
    await queue.add(webhooksQueue, job, { jobId, attempts: 1, removeOnComplete: true, removeOnFail: true });
  }

  return {
    /**
     * Adds a job to the queue. Returns false if Redis did not accept the job in time. The caller then does the work
     * itself.
     */
    async carry(job: WebhookJob): Promise<boolean> {
      // If Redis has not responded to an earlier call, returns false immediately. While Redis is down, the Redis client
      // queues every call, and another call would only make the queue longer.
      if (unanswered > 0) return false;
      const added = add(job);
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
      disconnect();
    },
  };
}

/**
 * The maximum number of webhooks that this process handles at the same time. The limit is high because a delivery spends
 * most of its time waiting for the receiver.
 */
const concurrency = 1_000;
/**
 * How long a process that was killed keeps its jobs. It renews its locks after half of this time. A process that is busy
 * for longer loses a job to another process. The webhook then receives some events twice.
 */
const lockDuration = 10_000;
/** How often a worker looks for the jobs of killed processes. */
const stalledInterval = 5_000;
const closeMsMax = 12_000;

/**
 * Runs webhook jobs. `run` delivers the webhook's undelivered events. The worker can call it even if the webhook has no
 * undelivered events or has been deleted. A failed job is not retried. Instead, the leader later adds a new job for the
 * webhook.
 */
export function bullmqWebhookWorker(options: WorkerOptions<WebhookJob>) {
  const jobOf = (data: unknown): WebhookJob | null => webhookJob.safeParse(data).data ?? null;
  const times = { closeMsMax, lockDuration, stalledInterval };
  return bullmqWorker(options, { queue: webhooksQueue, jobOf, concurrency, ...times });
}
