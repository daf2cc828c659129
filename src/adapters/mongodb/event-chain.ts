import type { Collection, Db } from 'mongodb';
import { endsCommit, linkAfter, noLink, type ProvenClear } from '../../events/commit.js';
import type { ChainLink, EventChain } from '../../ports/event-chain.js';
import type { EventLog } from '../../ports/event-log.js';
import type { MongoConnection } from './connection.js';
import { DuplicateKey } from './mongo-error.js';

/** A link, by the position of the last event of its commit in EventStoreDB. */
type LinkDocument = { readonly _id: number; readonly count: number; readonly hash: Buffer };

const pageSize = 1_000;

/** Returns the newest link of a chain, or the newest up to a position. */
export async function newestMongoLink(
  { call }: MongoConnection,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<ChainLink | null> {
  const newest = await call((db) => links(db).findOne({ _id: { $lte: upTo } }, { sort: { _id: -1 } }));
  return newest === null ? null : linkOf(newest);
}

/**
 * `EventChain` on MongoDB, for a log that is a store of its own. Whoever follows a log makes the same links, so two that do
 * it at the same moment harm nothing, and a link that is stored is never changed.
 */
export function mongoEventChain(connection: MongoConnection, log: Pick<EventLog, 'readClear'>): EventChain {
  const { call } = connection;
  const head = (upTo?: number) => newestMongoLink(connection, upTo);

  return {
    head,
    async after(position, limit) {
      const found = call((db) =>
        links(db)
          .find({ _id: { $gt: position } })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray(),
      );
      return (await found).map(linkOf);
    },
    async follow() {
      for (let from = await head(); ; ) {
        const page = await log.readClear(from?.position ?? 0, pageSize);
        // The rest of a commit that a page cuts off is on the next one, which begins after the last link.
        const ends = page.filter(endsCommit);
        if (ends.length === 0) return;
        from = (await store(ends, from)) ?? (await head());
      }
    },
  };

  /**
   * Stores the links of commits, each given by its last event, in order, and answers the last; null: another process has
   * made some of them. It only inserts, so that no user needs the right to change a link.
   */
  async function store(ends: readonly ProvenClear[], from: ChainLink | null): Promise<ChainLink | null> {
    let { count, hash } = from ?? { count: 0, hash: noLink };
    const made = ends.map(({ position, leaf }): LinkDocument => {
      count += 1;
      hash = linkAfter(hash, leaf);
      return { _id: position, count, hash: Buffer.from(hash) };
    });
    try {
      await call((db) => links(db).insertMany(made, { ordered: true }));
    } catch (error) {
      if (error instanceof DuplicateKey) return null;
      throw error;
    }
    const last = made.at(-1);
    return last === undefined ? null : linkOf(last);
  }
}

function links(db: Db): Collection<LinkDocument> {
  return db.collection<LinkDocument>('event_links');
}

function linkOf({ _id: position, count, hash }: LinkDocument): ChainLink {
  return { position, count, hash };
}
