import type { BulkJobOptions } from 'bullmq';
import { z } from 'zod';
import type { DueRow } from '../../ports/token-rows.js';

const dueRow = z.strictObject({
  stream: z.string(),
  tenantId: z.string(),
  due: z.enum(['expiry', 'cvc']),
  dueAt: z.number(),
});

/** Returns the row in a queue job's data, or null if the job is not ours. */
export function dueRowOf(data: unknown): DueRow | null {
  return dueRow.safeParse(data).data ?? null;
}

/**
 * Returns the job that runs `delayMs` after `now` (ms since the epoch). The job id consists of the kind of work, the
 * stream's id and the due time, so setting the same timer twice adds only one job. If the due time changes, the job
 * gets a new id, because BullMQ would keep the delay of the first job for the old id. A change that does not affect the
 * due time needs no new job, because the job's data does not contain the row's revision.
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
