import { Timestamp } from 'mongodb';
import type { Clock } from '../../../ports/clock.js';
import {
  type EndedKey,
  type KeyRevision,
  type KeyStore,
  noEvent,
  type RotationRows,
} from '../../../ports/key-store.js';
import { batcher } from '../batcher.js';
import type { MongoConnection } from '../connection.js';
import { uuidBytes, uuidText } from '../uuid.js';
import { type DataKeyDocument, keyCollections } from './key-collections.js';

const changedAtOnce = 1_000;

type Noted = Pick<DataKeyDocument, '_id' | 'revision' | 'destroyed_at'>;

type DataKeys = Pick<
  KeyStore,
  'dataKey' | 'noted' | 'countWraps' | 'reserveTraces' | 'insertDataKeys' | 'destroyDataKeys' | 'advance'
> &
  Pick<RotationRows, 'countLivingDataKeys' | 'livingDataKeys' | 'rewrapDataKeys'>;

/**
 * Stores wrapped data keys. A key's document is inserted, overwritten once to destroy the key, and never removed.
 * `logHead` returns the position of the newest event.
 */
export function mongoDataKeys({ call }: MongoConnection, clock: Clock, logHead: () => Promise<number>): DataKeys {
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

  /** Increments a counter in `wraps` and returns the new count. */
  async function count(id: string, more: number): Promise<number> {
    const update = { $inc: { count: more } };
    const counted = await call((db) =>
      keyCollections.wraps(db).findOneAndUpdate({ _id: id }, update, { upsert: true, returnDocument: 'after' }),
    );
    return counted?.count ?? 0;
  }

  /** Returns whether a rotation is replacing or has replaced this tenant key. */
  async function isRetiring(tenantKeyId: string): Promise<boolean> {
    const row = await call((db) => keyCollections.tenantKeys(db).findOne({ _id: tenantKeyId }));
    return row === null || row.retiring === true || row.destroyed_at !== null;
  }

  async function advance(advanced: readonly KeyRevision[]): Promise<void> {
    for (let start = 0; start < advanced.length; start += changedAtOnce) {
      const updates = advanced.slice(start, start + changedAtOnce).map(({ keyId, revision }) => ({
        updateOne: {
          filter: { _id: uuidBytes(keyId), destroyed_at: null },
          update: { $max: { revision } },
        },
      }));
      await call((db) => keyCollections.dataKeys(db).bulkWrite(updates, { ordered: false }));
    }
  }

  /**
   * Overwrites the living keys and returns their number. By then, overwrites by other processes are also on a majority.
   */
  async function destroy(ended: readonly EndedKey[]): Promise<number> {
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
  }

  return {
    /** Concurrent calls share one read. */
    async dataKey(keyId) {
      const row = await finds.add(keyId);
      return row && { tenantKeyId: row.tenant_key, wrapped: row.wrapped, revision: row.revision ?? null };
    },
    async noted(keyId) {
      const row = await notes.add(keyId);
      return row === null || row.destroyed_at !== null ? null : { revision: row.revision ?? null };
    },
    countWraps: count,
    /** All processes share one counter. */
    reserveTraces: async (tenantId, uses) => (await count(`traces.${tenantId}`, uses)) - uses,
    async insertDataKeys(tenantKeyId, keys) {
      const head = await logHead();
      // Records the log position after which the keys were created (ADR 32).
      await call((db) =>
        keyCollections.meta(db).updateOne({ _id: 'log' }, { $max: { value: head } }, { upsert: true }),
      );
      const rows = keys.map(
        ({ id, wrapped }): DataKeyDocument => ({
          ...{ _id: uuidBytes(id), stamp: stampedByServer, tenant_key: tenantKeyId, made_at: clock.now() },
          ...{ log_head: head, destroyed_at: null, destroyed_by: null, wrapped },
        }),
      );
      await call((db) => keyCollections.dataKeys(db).insertMany(rows));
      if (!(await isRetiring(tenantKeyId))) return 'stored';
      // A rotation may have missed these keys, and it destroys the key that wraps them.
      await destroy(keys.map(({ id }) => ({ keyId: id, eventId: noEvent })));
      return 'retiring';
    },
    async destroyDataKeys(ended, advanced) {
      const [destroyed] = await Promise.all([destroy(ended), advance(advanced)]);
      return destroyed;
    },
    advance,
    countLivingDataKeys: () => call((db) => keyCollections.dataKeys(db).countDocuments({ destroyed_at: null })),
    async livingDataKeys(afterSequence, limit) {
      const rows = await call((db) =>
        keyCollections
          .dataKeys(db)
          .find({ destroyed_at: null, stamp: { $gt: stampOf(afterSequence) } })
          .sort({ stamp: 1 })
          .limit(limit)
          .toArray(),
      );
      const last = rows.at(-1);
      if (last === undefined) return null;
      const keys = rows.flatMap(({ _id, tenant_key: tenantKeyId, wrapped }) =>
        wrapped === null ? [] : [{ id: uuidText(_id), tenantKeyId, wrapped }],
      );
      return { keys, last: sequenceOf(last.stamp) };
    },
    async rewrapDataKeys(keys) {
      const updates = keys.map(({ id, from, to, wrapped }) => ({
        updateOne: {
          filter: { _id: uuidBytes(id), tenant_key: from, destroyed_at: null },
          update: { $set: { tenant_key: to, wrapped } },
        },
      }));
      await call((db) => keyCollections.dataKeys(db).bulkWrite(updates, { ordered: false }));
    },
  };
}

/** Distinguishes two million inserts per second. Sequences stay exact until the year 2106. */
const perSecond = 2 ** 21;

/**
 * Returns a key's place in the creation order, a number that increases with the server's insert time. The server
 * assigns that time when the insert arrives, and the document becomes visible moments later. So the documents of all
 * processes become visible almost in this order.
 */
export function sequenceOf({ t, i }: Timestamp): number {
  return t * perSecond + i;
}

export function stampOf(sequence: number): Timestamp {
  return new Timestamp({ t: Math.floor(sequence / perSecond), i: sequence % perSecond });
}

/** The server replaces this value with its own time. */
const stampedByServer = new Timestamp({ t: 0, i: 0 });
