import { randomUUID } from 'node:crypto';
import { type NewEvent, systemEvent } from '../../../events/event.js';
import { isTokenStream } from '../../../events/tokens/stream-name.js';
import type { EventLog } from '../../../ports/event-log.js';
import type { StreamWrite } from '../../../ports/unit-of-work.js';

/**
 * Describes an append that a process is about to make. The process records the intent before the append. Other
 * processes can then find out whether the append was made. If it was not made, they can bar it permanently.
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
 * Returns `landed` if the append is in the log. Returns `barred` if the append can never be added to the log, and
 * `open` if it might still be added. Reads at most two events. Threat: a caller updates a token a thousand times with
 * 512 KiB of data, and then retries each request. If each retry read the whole stream, it would use up the memory.
 */
export async function outcomeOf(
  log: EventLog,
  { stream, expectedRevision, eventIds }: Intent,
): Promise<'landed' | 'barred' | 'open'> {
  const from = Math.max(expectedRevision, 0);
  const events = await log.readClearFrom(stream, from, expectedRevision + 2 - from);
  if (from === expectedRevision && events.length === 0) throw new Error('a stream is shorter than it was before');
  const next = events.find(({ revision }) => revision === expectedRevision + 1);
  if (next === undefined) return 'open';
  return eventIds.includes(next.id) ? 'landed' : 'barred';
}

/**
 * Settles an intent. Returns `landed` if the append is in the log. Otherwise bars the append and returns `barred`. To
 * bar an append, this function appends an event at the same revision. A late append, for example from a suspended
 * process, then fails because its revision is already taken. The result does not depend on a clock.
 */
export async function settle(log: EventLog, intent: Intent, now: number): Promise<'landed' | 'barred'> {
  for (;;) {
    const outcome = await outcomeOf(log, intent);
    if (outcome !== 'open') return outcome;
    const appended = await log.append(intent.stream, intent.expectedRevision, [fence(intent, now)]);
    if (appended.outcome === 'appended') return 'barred';
  }
}

function fence({ stream, tenantId }: Intent, time: number): NewEvent {
  const type = isTokenStream(stream) ? 'token.fenced' : 'tenant.fenced';
  return systemEvent({ id: randomUUID(), type, version: 1, tenantId, time, clear: {} });
}
