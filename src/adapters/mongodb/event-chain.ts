import type { Collection, Db } from 'mongodb';
import { endsCommit, linkAfter, noLink, type ProvenClear } from '../../events/commit.js';
import type { ChainLink, EventChain } from '../../ports/event-chain.js';
import type { EventLog } from '../../ports/event-log.js';
import type { MongoConnection } from './connection.js';
import { unlessDuplicate } from './mongo-error.js';

/** A link in the hash chain of commits. Its `_id` is the EventStoreDB position of the last event in the commit. */
type LinkDocument = { readonly _id: number; readonly count: number; readonly hash: Buffer };

const pageSize = 1_000;

/**
 * Implements `EventChain` on MongoDB for an event log in another store. Every process that follows the log computes the
 * same links, so several processes can follow the log at the same time. A stored link never changes.
 */
export function mongoEventChain({ call }: MongoConnection, log: Pick<EventLog, 'readClear'>): EventChain {
  async function head(upTo = Number.MAX_SAFE_INTEGER): Promise<ChainLink | null> {
    const newest = await call((db) => links(db).findOne({ _id: { $lte: upTo } }, { sort: { _id: -1 } }));
    return newest === null ? null : linkOf(newest);
  }

  return {
    head,
    async after(position, limit) {
      const found = await call((db) =>
        links(db)
          .find({ _id: { $gt: position } })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.map(linkOf);
    },
    async follow() {
      for (let from = await head(); ; ) {
        const page = await log.readClear(from?.position ?? 0, pageSize);
        // A page can end in the middle of a commit. The next page begins after the last stored link, so it contains the
        // whole commit.
        const ends = page.filter(endsCommit);
        if (ends.length === 0) return;
        const last = await store(ends, from);
        // This is the end of the log. Under load, there is always another event.
        if (last !== null && page.length < pageSize) return;
        from = last ?? (await head());
      }
    },
  };

  /**
   * Computes the links for commits, and stores them in order. `ends` contains the last event of each commit. Returns
   * the last link, or null if another process has already stored some of the links. Documents are only inserted, so no
   * database user needs the privilege to change a link.
   */
  async function store(ends: readonly ProvenClear[], from: ChainLink | null): Promise<ChainLink | null> {
    let { count, hash } = from ?? { count: 0, hash: noLink };
    const made = ends.map(({ position, leaf }): LinkDocument => {
      count += 1;
      hash = linkAfter(hash, leaf);
      return { _id: position, count, hash: Buffer.from(hash) };
    });
    if (!(await unlessDuplicate(call((db) => links(db).insertMany(made, { ordered: true }))))) return null;
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
