import type { BulkJobOptions } from 'bullmq';
import { z } from 'zod';
import type { DueRow } from '../../ports/token-rows.js';

const dueRow = z.strictObject({
  stream: z.string(),
  tenantId: z.string(),
  due: z.enum(['expiry', 'cvc']),
  dueAt: z.number(),
});

/** Returns the row that a job of the queue is for; null if the job is not one of ours. */
export function dueRowOf(data: unknown): DueRow | null {
  return dueRow.safeParse(data).data ?? null;
}

/**
 * Returns the job that runs `delayMs` after `now` (ms since the epoch). The job holds ids and the time, and its job id
 * is made of them. Setting it again therefore adds nothing. A moved time is another job, because BullMQ keeps the delay
 * of the first. The port's rows have no revision, and a change that leaves the time unchanged needs no second job.
 */
export function timerJob({ stream, tenantId, due, dueAt }: DueRow, now: number, delayMs: number) {
  const opts = {
    jobId: [due, stream.slice(stream.indexOf('-') + 1), dueAt].join('_'),
    delay: delayMs,
    timestamp: now,
    attempts: 1,
    removeOnComplete: true,
    removeOnFail: true,
  } satisfies BulkJobOptions;
  return { name: due, data: { stream, tenantId, due, dueAt } satisfies DueRow, opts };
}
