import type { BulkJobOptions } from 'bullmq';
import { z } from 'zod';
import type { DueRow } from '../../ports/token-rows.js';

const dueRow = z.strictObject({
  stream: z.string(),
  tenantId: z.string(),
  due: z.enum(['expiry', 'cvc']),
  dueAt: z.number(),
});

/** Returns the row that a queue job contains, or null if the job was not added by the vault. */
export function dueRowOf(data: unknown): DueRow | null {
  return dueRow.safeParse(data).data ?? null;
}

/**
 * Returns the job that runs `delayMs` after `now` (ms since the epoch). The job id consists of the kind of work, the
 * stream id and the due time. Setting the same timer twice therefore adds only one job. If the due time changes, the
 * job needs a new id, because BullMQ would not change an existing job's delay. Other changes need no new job, because
 * the job does not contain the row's revision.
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
