import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  START,
  type StreamingRead,
  StreamNotFoundError,
} from '@eventstore/db-client';
import type { StoredClear } from '../../events/commit.js';
import { ForgedLog } from '../../ports/event-log.js';
import { type Connection, slotsFor } from './connection.js';
import { decodeClear, isOurs, placeOf, type ReadEvent } from './decode-event.js';
import { noAnswer } from './failure.js';
import { positionOf } from './position.js';

/**
 * The maximum number of concurrent reads. A connection accepts about 98 concurrent calls. Further calls wait, and no
 * error is reported.
 */
const readsAtOnce = 32;
/**
 * The minimum number of log events per read. With a smaller number, a short page could need many reads to skip system
 * events.
 */
const pageMin = 32;
/** The maximum number of log events per read. */
const pageMax = 4_096;
/**
 * The maximum number of events in one read by `head`. `head` first reads only the newest event. Each later read is four
 * times as large as the previous one, up to this number.
 */
const lookMax = 1_024;
const requiresLeader = true;

type Decode<T> = (read: ReadEvent) => T | null;

/**
 * The functions that read the log. All of them read from the leader and return only after reading to the end of their
 * range. `all` and `head` skip events that are not from the vault. The functions that read a stream throw ForgedLog if
 * the stream contains such an event. All functions except `head` throw ForgedLog if an event is malformed.
 */
export type ReadLog = {
  readonly stream: <T>(stream: string, decode: Decode<T>) => Promise<T[]>;
  readonly all: <T>(afterPosition: number, limit: number, decode: Decode<T>) => Promise<T[]>;
  /**
   * Returns the newest events of a stream, newest first and without ciphertexts. The first returned event is the one
   * just before `beforeRevision`. If `beforeRevision` is null, it is the last event of the stream.
   */
  readonly newest: (stream: string, beforeRevision: number | null, maxCount: number) => Promise<StoredClear[]>;
  readonly head: () => Promise<number>;
  /** Returns at most `maxCount` events from a stream, starting at `fromRevision`. */
  readonly some: <T>(stream: string, fromRevision: number, maxCount: number, decode: Decode<T>) => Promise<T[]>;
};

export function readLog(connection: Connection, limitMs: number): ReadLog {
  const slots = slotsFor(readsAtOnce);

  /**
   * Returns all decoded events of a read. Each event is decoded as it arrives, so that what `decode` does not return is
   * not kept: the ciphertexts of a page can be hundreds of megabytes. An error in `decode` is caused by an event and not
   * by the server, so it is thrown after the call, and is not treated as a failure of the call. `decoder` is called again
   * if the call is repeated on another server.
   */
  async function readAs<T>(
    begin: (client: EventStoreDBClient) => StreamingRead<ReadEvent>,
    decoder: () => (read: ReadEvent) => T,
  ): Promise<T[]> {
    const { events, failures } = await connection.call(slots, limitMs, async (node, leftMs) => {
      const decode = decoder();
      const events: T[] = [];
      const failures: unknown[] = [];
      await collect(begin(node.client), { limitMs: leftMs, idleMs: limitMs }, (event) => {
        node.heard();
        if (failures.length > 0) return;
        try {
          events.push(decode(event));
        } catch (error) {
          failures.push(error);
        }
      });
      return { events, failures };
    });
    if (failures.length > 0) throw failures[0];
    return events;
  }

  async function readStream<T>(
    stream: string,
    options: {
      readonly fromRevision?: bigint | typeof END;
      readonly direction?: typeof BACKWARDS;
      readonly maxCount?: number;
    },
    decode: Decode<T>,
  ): Promise<T[]> {
    try {
      const decodeOurs = ours(decode);
      return await readAs(
        (client) => client.readStream(stream, { ...options, requiresLeader }),
        () => decodeOurs,
      );
    } catch (error) {
      if (error instanceof StreamNotFoundError) return [];
      throw error;
    }
  }

  return {
    stream: (stream, decode) => readStream(stream, {}, decode),

    some: (stream, fromRevision, maxCount, decode) =>
      readStream(stream, { fromRevision: BigInt(fromRevision), maxCount }, decode),

    newest: (stream, beforeRevision, maxCount) => {
      const fromRevision = beforeRevision === null ? END : BigInt(beforeRevision - 1);
      return readStream(stream, { fromRevision, direction: BACKWARDS, maxCount }, decodeClear);
    },

    async all<T>(afterPosition: number, limit: number, decode: Decode<T>) {
      const kept: T[] = [];
      for (let after = afterPosition; ; ) {
        // Requests one more event than needed, because a read includes the event at its start position.
        const maxCount = Math.min(Math.max(limit - kept.length, pageMin), pageMax) + 1;
        const fromPosition = after === 0 ? START : { commit: BigInt(after), prepare: BigInt(after) };
        const page = await readAs(
          (client) => client.readAll({ fromPosition, maxCount, requiresLeader }),
          () => decodeAfter(after, limit - kept.length, decode),
        );
        for (const { event } of page) if (event !== null) kept.push(event);
        if (page.length < maxCount || kept.length >= limit) return kept;
        after = page.at(-1)?.position ?? after;
      }
    },

    async head() {
      let before: typeof END | { readonly commit: bigint; readonly prepare: bigint } = END;
      for (let maxCount = 1; ; maxCount = Math.min(4 * maxCount, lookMax)) {
        const fromPosition = before;
        const newest = await readAs(
          (client) => client.readAll({ fromPosition, direction: BACKWARDS, maxCount, requiresLeader }),
          () => (read) => ({ position: positionOf(read.commitPosition), isOurs: isOurs(read) }),
        );
        const ours = newest.find(({ isOurs }) => isOurs);
        if (ours !== undefined) return ours.position;
        if (newest.length < maxCount) return 0;
        const oldest = BigInt(newest.at(-1)?.position ?? 0);
        before = { commit: oldest, prepare: oldest };
      }
    },
  };
}

/**
 * Returns a function that decodes the vault's events after a position, until it has decoded `limit` of them. For other
 * events, `event` is null.
 */
function decodeAfter<T>(after: number, limit: number, decode: Decode<T>) {
  let left = limit;
  return (read: ReadEvent): { readonly position: number; readonly event: T | null } => {
    const position = positionOf(read.commitPosition);
    const event = position > after && left > 0 ? decode(read) : null;
    if (event !== null) left -= 1;
    return { position, event };
  };
}

/**
 * Returns a function that decodes an event of one of the vault's streams. It throws if another program wrote the event.
 * If the event were skipped instead, the folded state would be wrong.
 */
function ours<T>(decode: Decode<T>): (read: ReadEvent) => T {
  return (read) => {
    const event = decode(read);
    if (event === null) throw ForgedLog.at(placeOf(read), 'was written by another program');
    return event;
  };
}

/**
 * Reads to the end, and calls `take` with each event. `take` must not throw, because a read that stops early still
 * counts toward the connection's limit of concurrent calls. After about a hundred such reads, every new call would wait
 * forever. The first event or the end must arrive within `limitMs`. Each following event must arrive within `idleMs` of
 * the previous one. If an event is late, the read is canceled and rejects with StoreUnavailable.
 */
function collect<T>(
  read: StreamingRead<T>,
  { limitMs, idleMs }: { readonly limitMs: number; readonly idleMs: number },
  take: (event: T) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const watch = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        reject(noAnswer());
        read.removeAllListeners('data');
        read.cancel().catch(() => undefined);
      }, ms);
    };
    // This listener stays after the promise has settled, because a later error in the call would otherwise be
    // unhandled.
    read.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    read.on('end', () => {
      clearTimeout(timer);
      resolve();
    });
    read.on('data', (event: T) => {
      watch(idleMs);
      take(event);
    });
    watch(limitMs);
  });
}
