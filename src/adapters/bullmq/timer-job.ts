import type { BulkJobOptions } from 'bullmq';
import { z } from 'zod';
import type { DueRow } from '../../ports/token-rows.js';

const dueRow = z.strictObject({
  stream: z.string(),
  tenantId: z.string(),
  due: z.enum(['expiry', 'cvc']),
  dueAt: z.number(),
});

/** What a job of the queue is about, or null when it is none of ours. */
export function dueRowOf(data: unknown): DueRow | null {
  return dueRow.safeParse(data).data ?? null;
}

/**
 * The job that runs `delayMs` after `now` (ms since the epoch). It holds ids and the time, and lies under an id made of
 * them: setting it again adds nothing, and a moved time is another job, because BullMQ keeps the delay of the first. The
 * port's rows tell no revision, and a change that leaves the time as it was needs no second job.
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
