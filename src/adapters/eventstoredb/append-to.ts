import type { EventData } from '@eventstore/db-client';
import type { AppendOutcome } from '../../ports/event-log.js';
import { type Connection, slotsFor, within } from './connection.js';
import { decodeClear } from './decode-event.js';
import { positionOf } from './position.js';
import type { ReadLog } from './read-log.js';

/** Appends that may be under way. More make EventStoreDB no faster, and each may hold a megabyte while it waits. */
const appendsAtOnce = 128;

type Append = (stream: string, expectedRevision: number, events: EventData[]) => Promise<AppendOutcome>;

/**
 * Appends as the port has it. While the server is away the append is sent again: the same bytes at the same expected
 * revision, so that EventStoreDB recognises a repeat by the ids of its events.
 */
export function appendTo(connection: Connection, limitMs: number, read: ReadLog): Append {
  const slots = slotsFor(appendsAtOnce);

  return async (stream, expectedRevision, events) => {
    const first = expectedRevision + 1;
    const { said, isFirst } = await connection.call(slots, limitMs, async (node, leftMs, isFirstTry) => ({
      said: await within(leftMs, node.appends.append(stream, expectedRevision, events)),
      isFirst: isFirstTry,
    }));

    if (said.outcome === 'conflict') {
      // A try before this one failed without saying whether it was stored: the ids of the events tell.
      const found = isFirst ? [] : await read.some(stream, first, events.length, decodeClear);
      const isStored = found.length === events.length && found.every(({ id }, index) => id === events[index]?.id);
      return isStored
        ? { outcome: 'appended', positions: found.map(({ position }) => position) }
        : { outcome: 'conflict' };
    }
    // The server names the position of the last event of an append.
    if (events.length === 1) return { outcome: 'appended', positions: [positionOf(said.position)] };
    const written = await read.some(stream, first, events.length, decodeClear);
    if (written.length < events.length) throw new Error('what was appended to EventStoreDB is not in its stream');
    return { outcome: 'appended', positions: written.map(({ position }) => position) };
  };
}
