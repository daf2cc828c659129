import type { BulkJobOptions } from 'bullmq';
import { z } from 'zod';
import type { DueRow } from '../../ports/token-rows.js';

const dueRow = z.strictObject({
  stream: z.string(),
  tenantId: z.string(),
  due: z.enum(['expiry', 'cvc']),
  dueAt: z.number(),
});

/** Returns the row that a queue job is for, or null if the job is not ours. */
export function dueRowOf(data: unknown): DueRow | null {
  return dueRow.safeParse(data).data ?? null;
}

/**
 * Returns the job that runs `delayMs` after `now` (ms since the epoch). The job contains ids and the due time, and its
 * job id is built from them, so setting it again adds nothing. A changed due time gets a new job, because BullMQ keeps
 * the first job's delay. The port's rows have no revision, so a change that leaves the due time alone needs no second
 * job.
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
