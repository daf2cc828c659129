import type { StoredLog } from '../../ports/event-log.js';
import { appendTo } from './append-to.js';
import type { Connection } from './connection.js';
import { decodeClear, decodeEvent } from './decode-event.js';
import { encodeEvents } from './encode-events.js';
import { readLog } from './read-log.js';

/**
 * `StoredLog` on EventStoreDB. Every call is made again while the server is away and throws StoreUnavailable after
 * `limitMs`; so does one that a server does not answer. An append that throws it may have happened.
 */
export function eventStoreDbEventLog(connection: Connection, limitMs: number): StoredLog {
  const read = readLog(connection, limitMs);
  const append = appendTo(connection, limitMs, read);

  return {
    async append(stream, expectedRevision, { events }) {
      if (stream === '' || stream.startsWith('$')) throw new Error('a stream needs a name that is no system name');
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
