import { type Collection, type Db, type Document, MaxKey } from 'mongodb';
import type { WebhookStore } from '../../ports/webhook-store.js';
import type { MongoConnection } from './connection.js';
import { unlessDuplicate } from './mongo-error.js';

type StateDocument = { readonly _id: string; readonly version: number; readonly state: string };
type IdDocument = {
  readonly _id: { readonly webhook: string; readonly event: string };
  readonly sealed: Buffer;
  readonly at: number;
};

const none = Buffer.alloc(0);
/** The number of ids in one command, which must end within the time limit of a call. */
const changedAtOnce = 10_000;

/** Implements `WebhookStore` in the MongoDB database that contains the rows. */
export function mongoWebhookStore(connection: MongoConnection): WebhookStore {
  const states = (db: Db): Collection<StateDocument> => db.collection<StateDocument>('webhook_states');
  const ids = (db: Db): Collection<IdDocument> => db.collection<IdDocument>('webhook_ids');

  async function replace(_id: string, version: number, state: string): Promise<boolean> {
    const next = { version: version + 1, state };
    if (version === 0) return unlessDuplicate(connection.call((db) => states(db).insertOne({ _id, ...next })));
    const replaced = await connection.call((db) => states(db).replaceOne({ _id, version }, next));
    return replaced.matchedCount === 1;
  }

  /** Calls `change` with one filter after another. Each filter finds up to `changedAtOnce` of the ids in `range`. */
  async function inParts(range: Document, change: (part: Document) => Promise<unknown>): Promise<void> {
    for (let rest: Document | null = range; rest !== null; ) {
      const { $lt, ...from }: Document = rest;
      const [last] = await connection.call((db) =>
        ids(db)
          .find({ _id: rest as Document }, { projection: { _id: 1 } })
          .sort({ _id: 1 })
          .skip(changedAtOnce - 1)
          .limit(1)
          .toArray(),
      );
      await change({ _id: last === undefined ? rest : { ...from, $lte: last._id } });
      rest = last === undefined ? null : { $gt: last._id, ...($lt === undefined ? {} : { $lt }) };
    }
  }

  return {
    async state(webhookId) {
      const found = await connection.call((db) => states(db).findOne({ _id: webhookId }));
      if (found === null) return null;
      // Threat: an attacker stores something other than text.
      const state: unknown = found.state;
      return { version: found.version, text: typeof state === 'string' ? state : '' };
    },
    async save(webhookId, version, text, delivered) {
      if (!(await replace(webhookId, version, text))) return false;
      const done = delivered.map((event) => ({ webhook: webhookId, event }));
      // If the process dies before this call, the sealed token ids of the delivered events stay in the store until
      // `forgetIds` empties them.
      if (done.length > 0) await connection.call((db) => ids(db).deleteMany({ _id: { $in: done } }));
      return true;
    },
    async remove(webhookId) {
      await connection.call((db) => states(db).deleteOne({ _id: webhookId }));
      // An id is compared by its webhook first, so this range needs only the index on `_id`.
      const all = { $gt: { webhook: webhookId }, $lt: { webhook: webhookId, event: new MaxKey() } };
      await inParts(all, (part) => connection.call((db) => ids(db).deleteMany(part)));
    },
    async keepIds(kept) {
      const documents = kept.map(({ webhookId, eventId, sealed, at }) => ({
        _id: { webhook: webhookId, event: eventId },
        sealed: Buffer.from(sealed),
        at,
      }));
      await connection.call((db) => ids(db).insertMany(documents));
    },
    async sealedIds(webhookId, eventIds) {
      if (eventIds.length === 0) return new Map();
      const asked = eventIds.map((event) => ({ webhook: webhookId, event }));
      const found = await connection.call((db) =>
        ids(db)
          .find({ _id: { $in: asked } })
          .toArray(),
      );
      return new Map(found.map(({ _id, sealed }) => [_id.event, sealed]));
    },
    async forgetIds(notBefore, markedBefore) {
      await inParts({ $gt: {} }, async (part) => {
        const old = { ...part, at: { $lt: notBefore }, sealed: { $gt: none } };
        await connection.call((db) => ids(db).updateMany(old, { $set: { sealed: none } }));
        await connection.call((db) => ids(db).deleteMany({ ...part, at: { $lt: markedBefore } }));
      });
    },
  };
}
