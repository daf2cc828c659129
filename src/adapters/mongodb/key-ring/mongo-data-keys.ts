import { Timestamp } from 'mongodb';
import type { Clock } from '../../../ports/clock.js';
import type { EndedKey, KeyRevision, KeyStatus, MadeKey } from '../../../ports/key-ring.js';
import { batcher } from '../batcher.js';
import type { MongoConnection } from '../connection.js';
import { uuidBytes, uuidText } from '../uuid.js';
import { type DataKeyDocument, keyCollections } from './key-collections.js';

const changedAtOnce = 1_000;

type NewDataKey = { readonly id: string; readonly wrapped: Buffer };

type Noted = Pick<DataKeyDocument, '_id' | 'revision' | 'destroyed_at'>;

/** Returns the store of data keys in MongoDB. Its rows are inserted, destroyed once, and never removed. */
export function createMongoDataKeys({ call }: MongoConnection, clock: Clock) {
  const finds = batcher<string, DataKeyDocument | null>(async (keyIds) => {
    const asked = { _id: { $in: [...new Set(keyIds)].map(uuidBytes) } };
    const rows = await call((db) => keyCollections.dataKeys(db).find(asked).toArray());
    const found = new Map(rows.map((row) => [uuidText(row._id), row]));
    return keyIds.map((keyId) => found.get(keyId) ?? null);
  });

  const notes = batcher<string, Noted | null>(async (keyIds) => {
    const asked = { _id: { $in: [...new Set(keyIds)].map(uuidBytes) } };
    const projection = { revision: 1, destroyed_at: 1 };
    const rows = await call((db) => keyCollections.dataKeys(db).find(asked).project<Noted>(projection).toArray());
    const found = new Map(rows.map((row) => [uuidText(row._id), row]));
    return keyIds.map((keyId) => found.get(keyId) ?? null);
  });

  return {
    /** Increments the number of keys that a tenant's key wraps, before it wraps them, and returns the new number. */
    async countWraps(tenantKeyId: string, wraps: number): Promise<number> {
      const counted = await call((db) =>
        keyCollections
          .wraps(db)
          .findOneAndUpdate(
            { _id: tenantKeyId },
            { $inc: { count: wraps } },
            { upsert: true, returnDocument: 'after' },
          ),
      );
      return counted?.count ?? 0;
    },
    async insert(tenantKeyId: string, logHead: number, keys: readonly NewDataKey[]): Promise<void> {
      const rows = keys.map(
        ({ id, wrapped }): DataKeyDocument => ({
          ...{ _id: uuidBytes(id), stamp: stampedByServer, tenant_key: tenantKeyId, made_at: clock.now() },
          ...{ log_head: logHead, destroyed_at: null, destroyed_by: null, wrapped },
        }),
      );
      await call((db) => keyCollections.dataKeys(db).insertMany(rows));
    },
    /** Returns a key, or null if it never existed. Concurrent calls share one read. */
    find: finds.add,
    /** Like `find`, but without the wrapped key. For a key that is already cached. */
    noted: notes.add,
    /** Notes newer revisions of living keys. */
    async advance(advanced: readonly KeyRevision[]): Promise<void> {
      for (let start = 0; start < advanced.length; start += changedAtOnce) {
        const updates = advanced.slice(start, start + changedAtOnce).map(({ keyId, revision }) => ({
          updateOne: {
            filter: { _id: uuidBytes(keyId), destroyed_at: null },
            update: { $max: { revision } },
          },
        }));
        await call((db) => keyCollections.dataKeys(db).bulkWrite(updates, { ordered: false }));
      }
    },
    async keyStatuses(keyIds: readonly string[]): Promise<readonly KeyStatus[]> {
      const asked = { _id: { $in: keyIds.map(uuidBytes) } };
      const rows = await call((db) =>
        keyCollections.dataKeys(db).find(asked).project<DataKeyDocument>({ destroyed_at: 1 }).toArray(),
      );
      return rows.map(({ _id, destroyed_at: destroyedAt }) => ({ keyId: uuidText(_id), destroyedAt }));
    },
    /**
     * Overwrites the living keys and returns their number. By then, overwrites by other processes are on a majority,
     * too.
     */
    async destroy(ended: readonly EndedKey[]): Promise<number> {
      let destroyed = 0;
      for (let start = 0; start < ended.length; start += changedAtOnce) {
        const updates = ended.slice(start, start + changedAtOnce).map(({ keyId, eventId }) => ({
          updateOne: {
            filter: { _id: uuidBytes(keyId), destroyed_at: null },
            update: { $set: { destroyed_at: clock.now(), destroyed_by: uuidBytes(eventId), wrapped: null } },
          },
        }));
        const result = await call((db) => keyCollections.dataKeys(db).bulkWrite(updates, { ordered: false }));
        destroyed += result.modifiedCount;
      }
      return destroyed;
    },
    /** Returns living keys after a sequence in order, with the sequence of the last key, or null if there are none. */
    async livingAfter(afterSequence: number, limit: number) {
      const rows = await call((db) =>
        keyCollections
          .dataKeys(db)
          .find({ destroyed_at: null, stamp: { $gt: stampOf(afterSequence) } })
          .sort({ stamp: 1 })
          .limit(limit)
          .toArray(),
      );
      const last = rows.at(-1);
      return { rows, last: last === undefined ? null : sequenceOf(last.stamp) };
    },
    /** Replaces the wrapping of each key that lives and is still wrapped by `from`. */
    async rewrap(keys: readonly { keyId: string; from: string; to: string; wrapped: Buffer }[]): Promise<void> {
      if (keys.length === 0) return;
      const updates = keys.map(({ keyId, from, to, wrapped }) => ({
        updateOne: {
          filter: { _id: uuidBytes(keyId), tenant_key: from, destroyed_at: null },
          update: { $set: { tenant_key: to, wrapped } },
        },
      }));
      await call((db) => keyCollections.dataKeys(db).bulkWrite(updates, { ordered: false }));
    },
    /**
     * Returns living keys after a sequence, in order. Stops at the first key that is too young, so that no reader's
     * sequence passes it.
     */
    async made(afterSequence: number, madeBefore: number, limit: number): Promise<readonly MadeKey[]> {
      const rows = await call((db) =>
        keyCollections
          .dataKeys(db)
          .find({ destroyed_at: null, stamp: { $gt: stampOf(afterSequence) } })
          .project<Pick<DataKeyDocument, '_id' | 'stamp' | 'made_at' | 'log_head'>>({
            ...{ stamp: 1, made_at: 1, log_head: 1 },
          })
          .sort({ stamp: 1 })
          .limit(limit)
          .toArray(),
      );
      const young = rows.findIndex(({ made_at }) => made_at >= madeBefore);
      return rows.slice(0, young === -1 ? rows.length : young).map(({ _id, stamp, log_head }) => ({
        ...{ sequence: sequenceOf(stamp), keyId: uuidText(_id), logHead: log_head },
      }));
    },
  };
}

/** Distinguishes two million inserts per second. The number stays exact until the year 2106. */
const perSecond = 2 ** 21;

/**
 * The creation order, a number that rises with the server's time of each insert. The server assigns it when the insert
 * arrives and shows the row moments later, so rows of all processes become visible almost in this order.
 */
function sequenceOf({ t, i }: Timestamp): number {
  return t * perSecond + i;
}

function stampOf(sequence: number): Timestamp {
  return new Timestamp({ t: Math.floor(sequence / perSecond), i: sequence % perSecond });
}

/** The server replaces this value with its own time. */
const stampedByServer = new Timestamp({ t: 0, i: 0 });
