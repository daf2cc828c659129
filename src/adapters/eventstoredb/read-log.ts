import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  START,
  type StreamingRead,
  StreamNotFoundError,
} from '@eventstore/db-client';
import type { StoredClear } from '../../events/commit.js';
import { collect } from './collect.js';
import { type Connection, slotsFor } from './connection.js';
import { decodeClear, type ReadEvent } from './decode-event.js';
import { positionOf } from './position.js';

/** A connection takes about 98 calls at a time; further ones would wait in it without a word. */
const readsAtOnce = 32;
/** At least so many are read of the log, so that a short page gets past the system's events in few reads. */
const pageMin = 32;
/** At most so many are read of the log at a time: they are held in memory until they are decoded. */
const pageMax = 4_096;
/** `head` looks at the newest event, then at four times as many, and so on up to this. */
const lookMax = 1_024;
const requiresLeader = true;

type Decode<T> = (read: ReadEvent) => T | null;

/** What can be read of the log: on the leader, each read to its end, what is not ours left out. */
export type ReadLog = {
  readonly stream: <T>(stream: string, decode: Decode<T>) => Promise<T[]>;
  readonly all: <T>(afterPosition: number, limit: number, decode: Decode<T>) => Promise<T[]>;
  /** The newest events of a stream before a revision (null: from its end), the newest first, without what is sealed. */
  readonly newest: (stream: string, beforeRevision: number | null, maxCount: number) => Promise<StoredClear[]>;
  readonly head: () => Promise<number>;
  /** Events of a stream from a revision on. */
  readonly some: <T>(stream: string, fromRevision: number, maxCount: number, decode: Decode<T>) => Promise<T[]>;
};

export function readLog(connection: Connection, limitMs: number): ReadLog {
  const slots = slotsFor(readsAtOnce);

  /**
   * All that a read yields. `decode` runs after the call: what it throws is about the events, and no failure of the server.
   */
  async function readAs<T>(
    begin: (client: EventStoreDBClient) => StreamingRead<ReadEvent>,
    decode: (read: ReadEvent) => T,
  ): Promise<T[]> {
    const read = await connection.call(slots, limitMs, async (node, leftMs) => {
      const events: ReadEvent[] = [];
      await collect(begin(node.client), { limitMs: leftMs, idleMs: limitMs }, (event) => {
        node.heard();
        events.push(event);
      });
      return events;
    });
    return read.map(decode);
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
      return (await readAs((client) => client.readStream(stream, { ...options, requiresLeader }), decode)).map(ours);
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

    async all(afterPosition, limit, decode) {
      const kept: NonNullable<ReturnType<typeof decode>>[] = [];
      for (let after = afterPosition; ; ) {
        // One more: a position is read from, itself included.
        const maxCount = Math.min(Math.max(limit - kept.length, pageMin), pageMax) + 1;
        const fromPosition = after === 0 ? START : { commit: BigInt(after), prepare: BigInt(after) };
        const page = await readAs(
          (client) => client.readAll({ fromPosition, maxCount, requiresLeader }),
          (read) => ({ position: positionOf(read.commitPosition), event: decode(read) }),
        );
        for (const { position, event } of page) {
          if (position > after && event !== null && event !== undefined) kept.push(event);
        }
        if (page.length < maxCount || kept.length >= limit) return kept.slice(0, limit);
        after = page.at(-1)?.position ?? after;
      }
    },

    async head() {
      let before: typeof END | { readonly commit: bigint; readonly prepare: bigint } = END;
      for (let maxCount = 1; ; maxCount = Math.min(4 * maxCount, lookMax)) {
        const fromPosition = before;
        const newest = await readAs(
          (client) => client.readAll({ fromPosition, direction: BACKWARDS, maxCount, requiresLeader }),
          (read) => ({ position: positionOf(read.commitPosition), isOurs: decodeClear(read) !== null }),
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

/** An event of a stream of ours. Left out, it would leave a gap in what is folded. */
function ours<T>(event: T | null): T {
  if (event === null) throw new Error('somebody else wrote to a stream of the vault');
  return event;
}
