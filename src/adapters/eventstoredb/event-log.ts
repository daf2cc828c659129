import type { EventData } from '@eventstore/db-client';
import type { AppendOutcome, StoredLog } from '../../ports/event-log.js';
import { type Connection, slotsFor, within } from './connection.js';
import { decodeClear, decodeEvent } from './decode-event.js';
import { encodeEvents } from './encode-events.js';
import { positionOf } from './position.js';
import { type ReadLog, readLog } from './read-log.js';

/**
 * Implements `StoredLog` on EventStoreDB. Each call is retried while the server is unavailable, and throws
 * StoreUnavailable after `limitMs`. If an append throws StoreUnavailable, its events may still have been stored.
 */
export function eventStoreDbEventLog(connection: Connection, limitMs: number): StoredLog {
  const read = readLog(connection, limitMs);
  const append = appendTo(connection, limitMs, read);

  return {
    async append(stream, expectedRevision, { events }) {
      if (stream === '' || stream.startsWith('$'))
        throw new Error('a stream must have a name, which must not be a system name');
      return append(stream, expectedRevision, encodeEvents(events));
    },
    readStream: (stream) => read.stream(stream, decodeEvent),
    readFrom: (stream, fromRevision, limit) => read.some(stream, fromRevision, limit, decodeEvent),
    readClearFrom: (stream, fromRevision, limit) => read.some(stream, fromRevision, limit, decodeClear),
    async readNewest(stream, beforeRevision, limit) {
      return beforeRevision === 0 || limit < 1 ? [] : read.newest(stream, beforeRevision, limit);
    },
    readAll: (afterPosition, limit) => read.all(afterPosition, limit, decodeEvent),
    readClear: (afterPosition, limit) => read.all(afterPosition, limit, decodeClear),
    head: read.head,
  };
}

/**
 * The maximum number of concurrent appends. A higher limit would not increase EventStoreDB's throughput, and each
 * waiting append can use up to a megabyte of memory.
 */
const appendsAtOnce = 128;

type Append = (stream: string, expectedRevision: number, events: EventData[]) => Promise<AppendOutcome>;

/**
 * Returns a function that appends events. While the server is unavailable, it retries with the same bytes and the same
 * expected revision. EventStoreDB recognizes a retry by its event ids.
 */
function appendTo(connection: Connection, limitMs: number, read: ReadLog): Append {
  const slots = slotsFor(appendsAtOnce);

  return async (stream, expectedRevision, events) => {
    const first = expectedRevision + 1;
    const { said, isFirst } = await connection.call(slots, limitMs, async (node, leftMs, isFirstTry) => ({
      said: await within(leftMs, node.appends.append(stream, expectedRevision, events)),
      isFirst: isFirstTry,
    }));

    if (said.outcome === 'conflict') {
      // If this attempt is a retry, an earlier attempt may have stored the events. The event ids in the stream show
      // whether it did.
      const found = isFirst ? [] : await read.some(stream, first, events.length, decodeClear);
      const isStored = found.length === events.length && found.every(({ id }, index) => id === events[index]?.id);
      return isStored
        ? { outcome: 'appended', positions: found.map(({ position }) => position) }
        : { outcome: 'conflict' };
    }
    // Reads the other positions from the stream, because the server returns only the position of the last event.
    if (events.length === 1) return { outcome: 'appended', positions: [positionOf(said.position)] };
    const written = await read.some(stream, first, events.length, decodeClear);
    if (written.length < events.length) throw new Error('the appended events are not in their stream in EventStoreDB');
    return { outcome: 'appended', positions: written.map(({ position }) => position) };
  };
}
