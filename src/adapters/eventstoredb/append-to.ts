import { type EventData, type EventStoreDBClient, NO_STREAM, WrongExpectedVersionError } from '@eventstore/db-client';
import pLimit from 'p-limit';
import type { AppendOutcome } from '../../ports/event-log.js';
import { noAnswer } from './failure.js';
import { persist, within } from './persist.js';
import { positionOf } from './position.js';
import type { ReadLog } from './read-log.js';

/**
 * Appends that may be under way. All share one call of the connection; when 16 messages wait in it, because the server
 * is frozen, and it then breaks, the client ends the process with a rejection that nobody can catch.
 */
const appendsAtOnce = 15;

type Append = (stream: string, expectedRevision: number, events: EventData[]) => Promise<AppendOutcome>;

/**
 * An append as the port has it. While the server is away it is sent again: the same bytes at the same expected
 * revision, so that EventStoreDB knows a repeat by the ids of its events.
 */
export function appendTo(client: EventStoreDBClient, limitMs: number, read: ReadLog): Append {
  const slots = pLimit(appendsAtOnce);

  function send(stream: string, expectedRevision: bigint | typeof NO_STREAM, events: EventData[], leftMs: number) {
    let isLate = false;
    // The slot is kept until the client is done with the append, also when nobody waits for it any more.
    const sent = slots(() => {
      if (isLate) throw noAnswer();
      return client.appendToStream(stream, events, { expectedRevision, requiresLeader: true });
    });
    return within(leftMs, sent).finally(() => {
      isLate = true;
    });
  }

  return async (stream, expectedRevision, events) => {
    const first = expectedRevision + 1;
    const expected = expectedRevision === -1 ? NO_STREAM : BigInt(expectedRevision);

    const stored = await persist(limitMs, async (leftMs, isFirstTry) => {
      try {
        return await send(stream, expected, events, leftMs);
      } catch (error) {
        if (!(error instanceof WrongExpectedVersionError)) throw error;
        // A try before this one failed without saying whether it was stored: the ids of the events tell.
        const found = isFirstTry ? [] : await read.some(stream, first, events.length);
        return found.length > 0 && found.every(({ id }, index) => id === events[index]?.id)
          ? { position: undefined }
          : null;
      }
    });
    if (stored === null) return { outcome: 'conflict' };

    // The server names the position of the last event of an append.
    if (events.length === 1 && stored.position !== undefined) {
      return { outcome: 'appended', position: positionOf(stored.position.commit) };
    }
    const [event] = await read.some(stream, first, 1);
    if (event === undefined) throw new Error('an event that was appended to EventStoreDB is not in its stream');
    return { outcome: 'appended', position: event.position };
  };
}
