import { randomUUID } from 'node:crypto';
import { type NewEvent, noSealedParts } from '../../../events/event.js';
import type { EventLog } from '../../../ports/event-log.js';
import type { StreamWrite } from '../../../ports/unit-of-work.js';

/**
 * An append that somebody was about to make, noted before it was made: enough for others to see whether it was, and to
 * bar it for ever if it was not.
 */
export type Intent = {
  readonly stream: string;
  readonly tenantId: string;
  readonly expectedRevision: number;
  readonly eventIds: readonly string[];
};

export function intentOf({ stream, expectedRevision, events }: StreamWrite): Intent {
  return { stream, expectedRevision, tenantId: events[0]?.tenantId ?? '', eventIds: events.map(({ id }) => id) };
}

/**
 * Whether what was intended is in the log; if it is not, it never will be. No clock is asked: an append that comes late,
 * from a process that was stopped or a connection that hung, finds its revision taken.
 */
export async function settle(log: EventLog, intent: Intent, now: number): Promise<'landed' | 'barred'> {
  for (;;) {
    const next = await eventAfter(log, intent);
    if (next !== null) return intent.eventIds.includes(next.id) ? 'landed' : 'barred';
    const { outcome } = await log.append(intent.stream, intent.expectedRevision, [fence(intent, now)]);
    if (outcome === 'appended') return 'barred';
  }
}

/** Whether what was intended is in the log by now. */
export async function hasLanded(log: EventLog, intent: Intent): Promise<boolean> {
  const next = await eventAfter(log, intent);
  return next !== null && intent.eventIds.includes(next.id);
}

async function eventAfter(log: EventLog, { stream, expectedRevision }: Intent) {
  const events = await log.readStream(stream);
  if (events.length - 1 < expectedRevision) throw new Error('a stream is shorter than somebody has seen it');
  return events[expectedRevision + 1] ?? null;
}

function fence({ stream, tenantId }: Intent, time: number): NewEvent {
  return {
    ...{ id: randomUUID(), type: stream.startsWith('token-') ? 'token.fenced' : 'tenant.fenced', version: 1 },
    ...{ tenantId, actorId: 'system', time, cmd: null, trace: null, clear: {}, sealed: noSealedParts },
  };
}
