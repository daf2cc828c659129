import type { Clock } from '../../ports/clock.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { Timers } from '../../ports/timers.js';
import type { DueRow } from '../../ports/token-rows.js';
import { redisFailure } from '../redis/redis-failure.js';
import { onceAMinute } from '../shared/once-a-minute.js';
import { withinLimit } from '../shared/within-limit.js';
import { bullmqQueue, type QueuePlace } from './bullmq-queue.js';
import { bullmqWorker, type WorkerOptions } from './bullmq-worker.js';
import { dueRowOf, timerJob } from './timer-job.js';

const timersQueue = 'timers';

/**
 * How far in the future a timer can be set, in ms. A timer that is due later would occupy Redis memory for a long time,
 * so the leader sets it only when less than a day remains.
 */
export const soonMs = 24 * 3_600_000;

export type BullmqTimersOptions = QueuePlace & {
  readonly clock: Clock;
  /**
   * How long after its due time a job runs, in ms. This must be long enough for the due time to have passed on the
   * clocks of all processes.
   */
  readonly slackMs?: number;
  /** Called for Redis failures, but at most once a minute. */
  readonly onError: (error: unknown) => void;
  /** How long a call waits for Redis to respond, in ms. */
  readonly limitMs?: number;
  /**
   * The maximum number of jobs being sent to Redis at the same time. Additional jobs are dropped, and the sweep handles
   * their rows.
   */
  readonly pendingMax?: number;
  /**
   * The maximum number of removals being sent to Redis at the same time. Additional removals are dropped. Their jobs do
   * nothing, but they stay in Redis until they run. This limit is higher than `pendingMax`, because one request can
   * delete a thousand tokens with two timers each.
   */
  readonly removalsMax?: number;
};

export type RefilledTimers = {
  /**
   * Sets timers for rows that become due within a day, and removes BullMQ's records of earlier jobs. The leader calls
   * this function regularly. It never throws, and waits at most `limitMs`.
   */
  refill(rows: readonly DueRow[]): Promise<void>;
  /**
   * Returns how many jobs and removals are being sent to Redis, and how many have been dropped since the process
   * started. They are dropped if too many are already being sent.
   */
  counts(): { readonly pending: number; readonly dropped: number };
  close(): Promise<void>;
};

/**
 * Implements `Timers` with delayed BullMQ jobs. A job runs after its due time has passed on the clocks of all
 * processes. `set` and `clear` never fail and never wait for Redis. While Redis is down, up to `pendingMax` jobs and
 * `removalsMax` removals wait until it is available again. The others are dropped and counted. Threat: clients delete
 * tokens while Redis is down, until the waiting removals fill the memory of the process.
 */
export function bullmqTimers(options: BullmqTimersOptions): Timers & RefilledTimers {
  const { clock, slackMs = 100, limitMs = 2_000, pendingMax = 1_000, removalsMax = 10_000 } = options;
  const report = onceAMinute(options.onError);
  // BullMQ appends the id of each job to a stream of events, which nothing here reads. The stream is kept empty,
  // because nothing outside the log may name an erased token.
  const streams = { events: { maxLen: 0 } };
  const { queue, disconnect } = bullmqQueue<DueRow>(timersQueue, options, report, { streams });
  const underWay = new Set<Promise<unknown>>();
  const jobs = { pending: 0, max: pendingMax };
  const removals = { pending: 0, max: removalsMax };
  let dropped = 0;

  const delayMs = ({ dueAt }: DueRow, now: number): number => dueAt + slackMs - now;

  async function add(rows: readonly DueRow[], now: number): Promise<void> {
    if (rows.length === 0) return;
    await send(jobs, rows.length, () =>
      queue.addBulk(rows.map((row) => timerJob(row, now, Math.max(0, delayMs(row, now))))),
    );
  }

  async function send(kind: typeof jobs, amount: number, call: () => Promise<unknown>): Promise<void> {
    if (kind.pending + amount > kind.max) {
      dropped += amount;
      return report(new StoreUnavailable('redis', 'too_many_timers_pending'));
    }
    kind.pending += amount;
    // Counts the jobs as pending until BullMQ settles the call, even if the time limit below is reached first.
    const settled = call().finally(() => {
      kind.pending -= amount;
      underWay.delete(settled);
    });
    underWay.add(settled);
    await withinLimit('redis', limitMs, settled).catch((error) => report(redisFailure(error)));
  }

  return {
    set(timer) {
      const now = clock.now();
      if (delayMs(timer, now) <= soonMs) void add([timer], now);
    },
    clear(timer) {
      const now = clock.now();
      if (delayMs(timer, now) > soonMs) return;
      // If `set` was called earlier in the same turn of the event loop, Redis still receives its command first, because
      // both commands use the same connection.
      void send(removals, 1, () => queue.remove(timerJob(timer, now, 0).opts.jobId));
    },
    async pending(rows) {
      const now = clock.now();
      const asked = rows.map((row) => queue.getJobState(timerJob(row, now, 0).opts.jobId));
      try {
        const states = await withinLimit('redis', limitMs, Promise.all(asked));
        return states.filter((state) => state !== 'unknown').length;
      } catch (error) {
        throw redisFailure(error);
      }
    },
    async refill(rows) {
      const now = clock.now();
      const ahead = rows.filter((row) => delayMs(row, now) > 0 && delayMs(row, now) <= soonMs);
      // BullMQ does not trim the stream when a job has run, and forgets `maxLen` if Redis loses its data.
      const trimmed = send(removals, 1, () => queue.trimEvents(0));
      await add(ahead.slice(0, Math.max(0, pendingMax - jobs.pending)), now);
      await trimmed;
    },
    counts: () => ({ pending: jobs.pending + removals.pending, dropped }),
    async close() {
      // Waits for pending jobs only up to the time limit. The sweep handles the rows of jobs that Redis has not
      // accepted by then.
      const closed = Promise.allSettled(underWay).then(() => queue.close());
      await withinLimit('redis', limitMs, closed).catch(() => undefined);
      disconnect();
    },
  };
}

/**
 * Runs the jobs of due timers. The worker can call `run` twice for the same row, and for a row whose due time has
 * changed since the job was added. A failed job is not retried, because the sweep handles its row.
 */
export function bullmqTimerWorker(options: WorkerOptions<DueRow> & { readonly closeMsMax?: number }) {
  const { closeMsMax = 10_000 } = options;
  return bullmqWorker(options, { queue: timersQueue, jobOf: dueRowOf, concurrency: 8, closeMsMax });
}
