import { randomUUID } from 'node:crypto';
import type { JsonObject } from '#src/domain/json.js';
import type { ProvenEvent } from '#src/events/commit.js';
import type { EventLog } from '#src/ports/event-log.js';

type Asked = {
  readonly tenantId: string;
  readonly stream: string;
  readonly updates: number;
  readonly isDeleted?: boolean;
  /** How many keys of replaced data the token keeps. */
  readonly kept?: number;
};

/** Returns a log with one token whose data has been replaced many times. Each update ends the oldest key. */
export function updatedOften({ tenantId, stream, updates, isDeleted = false, kept = 0 }: Asked) {
  const keys = Array.from({ length: updates + 1 }, () => randomUUID());
  const none = Buffer.alloc(32);
  const eventOf = (type: string, revision: number, clear: JsonObject): ProvenEvent => ({
    id: randomUUID(),
    type,
    version: 1,
    tenantId,
    actorId: 'operator',
    time: 1_000,
    cmd: null,
    trace: null,
    clear,
    sealed: { content: Buffer.from('sealed'), cvc: null },
    stream,
    revision,
    position: revision + 1,
    proof: { first: revision, digests: null, sealedHash: none, mac: none },
    leaf: none,
  });
  const events = keys.map((key, revision) =>
    revision === 0
      ? eventOf('token.created', 0, { token_type: 'token', key })
      : eventOf('token.updated', revision, {
          key,
          ends: keys.slice(Math.max(revision - 1 - kept, 0), Math.max(revision - kept, 0)),
          changed: ['data'],
          cvc: 'kept',
        }),
  );
  if (isDeleted) events.push(eventOf('token.deleted', events.length, { reason: 'request', ends: keys.slice(-1) }));
  const read = async (_stream: string, from: number, limit: number) => events.slice(from, from + limit);
  const log: Pick<EventLog, 'readFrom' | 'readClearFrom'> = { readFrom: read, readClearFrom: read };
  return { log, events };
}
