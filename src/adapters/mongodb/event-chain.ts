import type { Collection, Db } from 'mongodb';
import { eventLink, noLink } from '../../events/audit/event-link.js';
import type { RecordedEvent } from '../../events/event.js';
import type { ChainLink, EventChain } from '../../ports/event-chain.js';
import type { EventLog } from '../../ports/event-log.js';
import type { MongoConnection } from './connection.js';
import { DuplicateKey } from './mongo-error.js';

/** A link, by the position of its event in EventStoreDB. */
type LinkDocument = { readonly _id: number; readonly count: number; readonly hash: Buffer };

/** Events of half a megabyte each are 64 MB. */
const pageSize = 128;

/**
 * `EventChain` on MongoDB, for a log that is a store of its own. Whoever follows a log makes the same links, so two that do
 * it at the same moment harm nothing, and a link that is stored is never changed.
 */
export function mongoEventChain({ call }: MongoConnection, log: Pick<EventLog, 'readAll'>): EventChain {
  const links = (db: Db): Collection<LinkDocument> => db.collection<LinkDocument>('event_links');
  const linkOf = ({ _id: position, count, hash }: LinkDocument): ChainLink => ({ position, count, hash });

  async function head(upTo = Number.MAX_SAFE_INTEGER): Promise<ChainLink | null> {
    const newest = await call((db) => links(db).findOne({ _id: { $lte: upTo } }, { sort: { _id: -1 } }));
    return newest === null ? null : linkOf(newest);
  }

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
        const page = await log.readAll(from?.position ?? 0, pageSize);
        if (page.length === 0) return;
        from = (await store(page, from)) ?? (await head());
      }
    },
  };

  /**
   * Stores the links of a page in order and answers the last; null: another process has made some of them. Inserts alone, so
   * that nobody needs a right to change a link.
   */
  async function store(page: readonly RecordedEvent[], from: ChainLink | null): Promise<ChainLink | null> {
    let { count, hash } = from ?? { count: 0, hash: noLink };
    const made = page.map((event): LinkDocument => {
      count += 1;
      hash = eventLink(hash, event);
      return { _id: event.position, count, hash: Buffer.from(hash) };
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
