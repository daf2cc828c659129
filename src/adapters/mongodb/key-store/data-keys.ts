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
import { type DataKeyDocument, keyCollections, raiseMetaValue } from './key-collections.js';

const changedAtOnce = 1_000;
/** The number of keys that one query counts. A query for millions of keys would exceed the time limit of a call. */
const countedAtOnce = 50_000;

type DataKeys = Pick<
  KeyStore,
  'dataKey' | 'noted' | 'countWraps' | 'reserveTraces' | 'insertDataKeys' | 'destroyDataKeys' | 'advance'
> &
  Pick<RotationRows, 'countLivingDataKeys' | 'livingDataKeys' | 'rewrapDataKeys'>;

/**
 * Stores wrapped data keys. A key's document is never removed. A key is destroyed by overwriting its document.
 * `logHead` returns the position of the newest event in the log.
 */
export function mongoDataKeys(connection: MongoConnection, clock: Clock, logHead: () => Promise<number>): DataKeys {
  const { call } = connection;

  /**
   * Returns a function that returns these fields of a data key, or null if there is no such key. Concurrent calls share
   * one query.
   */
  function reads<F extends keyof DataKeyDocument>(...fields: readonly F[]) {
    const projection = Object.fromEntries(fields.map((field) => [field, 1]));
    const queries = batcher<string, Pick<DataKeyDocument, F> | null>(async (keyIds) => {
      const asked = { _id: { $in: [...new Set(keyIds)].map(uuidBytes) } };
      const rows = await call((db) =>
        keyCollections.dataKeys(db).find(asked).project<Pick<DataKeyDocument, F | '_id'>>(projection).toArray(),
      );
      const found = new Map(rows.map((row) => [uuidText(row._id), row]));
      return keyIds.map((keyId) => found.get(keyId) ?? null);
    });
    return queries.add;
  }
  const readKey = reads('tenant_key', 'wrapped', 'revision');
  const readRevision = reads('revision', 'destroyed_at');

  /** Increases a counter in `wraps` by `more`, and returns the new count. */
  async function count(id: string, more: number): Promise<number> {
    const update = { $inc: { count: more } };
    const counted = await call((db) =>
      keyCollections.wraps(db).findOneAndUpdate({ _id: id }, update, { upsert: true, returnDocument: 'after' }),
    );
    return counted?.count ?? 0;
  }

  /** Returns true if a rotation is replacing this tenant key or has already replaced it. */
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
   * Overwrites the wrapped keys that still exist, and returns how many there were. When this function returns, a
   * majority of the nodes has stored these changes and all earlier changes by other processes.
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
    async dataKey(keyId) {
      const row = await readKey(keyId);
      return row && { tenantKeyId: row.tenant_key, wrapped: row.wrapped, revision: row.revision ?? null };
    },
    async noted(keyId) {
      const row = await readRevision(keyId);
      return row === null || row.destroyed_at !== null ? null : { revision: row.revision ?? null };
    },
    countWraps: count,
    /** All processes share one counter per tenant. */
    reserveTraces: async (tenantId, uses) => (await count(`traces.${tenantId}`, uses)) - uses,
    async insertDataKeys(tenantKeyId, keys) {
      const head = await logHead();
      // Before the keys are stored, records how far the log reaches. If the log later ends before this position, the
      // vault detects that an older copy was restored (ADR 32).
      await raiseMetaValue(connection, 'log', head);
      const rows = keys.map(
        ({ id, wrapped }): DataKeyDocument => ({
          _id: uuidBytes(id),
          stamp: stampedByServer,
          tenant_key: tenantKeyId,
          made_at: clock.now(),
          log_head: head,
          destroyed_at: null,
          destroyed_by: null,
          wrapped,
        }),
      );
      await call((db) => keyCollections.dataKeys(db).insertMany(rows));
      if (!(await isRetiring(tenantKeyId))) return 'stored';
      // Destroys the new keys, because the rotation will destroy the key that wraps them and may have missed them when
      // it rewrapped keys.
      await destroy(keys.map(({ id }) => ({ keyId: id, eventId: noEvent })));
      return 'retiring';
    },
    async destroyDataKeys(ended, advanced) {
      const [destroyed] = await Promise.all([destroy(ended), advance(advanced)]);
      return destroyed;
    },
    advance,
    async countLivingDataKeys() {
      let total = 0;
      for (let after = stampOf(0); ; ) {
        const page = await call((db) =>
          keyCollections
            .dataKeys(db)
            .find({ destroyed_at: null, stamp: { $gt: after } })
            .sort({ stamp: 1 })
            .limit(countedAtOnce)
            .project<Pick<DataKeyDocument, 'stamp'>>({ stamp: 1, _id: 0 })
            .toArray(),
        );
        total += page.length;
        const last = page.at(-1);
        if (last === undefined || page.length < countedAtOnce) return total;
        after = last.stamp;
      }
    },
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

/**
 * How many inserts per second can have distinct sequence numbers (about two million). With this factor, sequence
 * numbers are exact integers until the year 2106.
 */
const perSecond = 2 ** 21;

/**
 * Returns the place of a key in the order of creation, as a number that increases with the insert time. The server
 * assigns the insert time when an insert arrives, and the document becomes visible moments later. Documents of all
 * processes therefore become visible in nearly this order.
 */
export function sequenceOf({ t, i }: Timestamp): number {
  return t * perSecond + i;
}

export function stampOf(sequence: number): Timestamp {
  return new Timestamp({ t: Math.floor(sequence / perSecond), i: sequence % perSecond });
}

/** A placeholder that the server replaces with the current time when it inserts the document. */
const stampedByServer = new Timestamp({ t: 0, i: 0 });
