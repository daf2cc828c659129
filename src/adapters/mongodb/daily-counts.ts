import type { ClientSession, Collection, Db } from 'mongodb';
import type { CountStep, DailyCounts, DailySeries, DayCount } from '../../ports/daily-counts.js';
import type { MongoConnection } from './connection.js';
import { inTransaction } from './in-transaction.js';

/**
 * A count for one day. `_id` consists of the tenant id, the series, the day, `name` and `what`, so the index on `_id`
 * serves every query.
 */
type CountDocument = { readonly _id: string; readonly count: number };
type PositionDocument = { readonly _id: string; readonly position: number };

const countsOf = (db: Db): Collection<CountDocument> => db.collection<CountDocument>('daily_counts');
const positionsOf = (db: Db): Collection<PositionDocument> => db.collection<PositionDocument>('daily_positions');
const hint = '_id_';
/** While a document with this id is among the positions, the counts are being removed. */
const clearing = 'clearing';
const removedAtOnce = 1_000;

/** Implements `DailyCounts` in the MongoDB database that contains the rows. */
export function mongoDailyCounts(connection: MongoConnection): DailyCounts {
  const { call } = connection;

  return {
    async positions() {
      const read = () => call((db) => positionsOf(db).find().toArray());
      let stored = await read();
      while (stored.some(({ _id }) => _id === clearing)) {
        await finishClear(connection);
        stored = await read();
      }
      return new Map(stored.map(({ _id, position }) => [_id, position]));
    },
    add: (step) => inTransaction(connection, (db, session) => addStep(db, session, step)),
    async days(tenantId, series, from, to) {
      const _id = { $gte: idOf(tenantId, series, from), $lt: idOf(tenantId, series, to + 1) };
      const found = await call((db) => countsOf(db).find({ _id }, { hint }).sort({ _id: 1 }).toArray());
      return found.map(({ _id: id, count }): DayCount => ({ tenantId, series, ...partsOf(id), count }));
    },
    async totalsBefore(tenantId, series, day) {
      const _id = { $gte: idOf(tenantId, series, 0), $lt: idOf(tenantId, series, day) };
      const totals = new Map<string, { name: string; what: string; count: number }>();
      for (const { _id: id, count } of await call((db) => countsOf(db).find({ _id }, { hint }).toArray())) {
        const { name, what } = partsOf(id);
        const total = totals.get(`${name}/${what}`) ?? { name, what, count: 0 };
        totals.set(`${name}/${what}`, { ...total, count: total.count + count });
      }
      return [...totals].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, total]) => total);
    },
    async clear() {
      const begun = { $setOnInsert: { position: 0 } };
      await call((db) => positionsOf(db).updateOne({ _id: clearing }, begun, { upsert: true }));
      await finishClear(connection);
    },
  };
}

/**
 * Removes all counts and positions, if `clear` was called. There can be too many counts for one transaction. If the
 * process is killed halfway, the next call of `positions`, in any process, removes the rest. Each transaction writes the
 * mark, so this process removes nothing that is added after another process has removed the rest. The last transaction
 * removes the positions together with the last counts, so a position always includes its counts.
 */
async function finishClear(connection: MongoConnection): Promise<void> {
  for (let isDone = false; !isDone; ) {
    isDone = await inTransaction(connection, async (db, session) => {
      const mark = { _id: clearing };
      const { matchedCount } = await positionsOf(db).updateOne(mark, { $inc: { position: 1 } }, { session });
      if (matchedCount === 0) return true;
      const ids = { projection: { _id: 1 }, session } as const;
      const found = await countsOf(db).find({}, ids).limit(removedAtOnce).toArray();
      await countsOf(db).deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }, { session });
      if (found.length === removedAtOnce) return false;
      await positionsOf(db).deleteMany({}, { session });
      return true;
    });
  }
}

async function addStep(db: Db, session: ClientSession, { source, from, to, counts, ended }: CountStep) {
  const stored = await positionsOf(db).findOne({ _id: source }, { session });
  if ((stored?.position ?? 0) !== from) return false;
  await positionsOf(db).updateOne({ _id: source }, { $set: { position: to } }, { upsert: true, session });
  if (counts.length > 0) {
    const additions = counts.map(({ tenantId, series, day, name, what, count }) => ({
      updateOne: {
        filter: { _id: `${idOf(tenantId, series, day)}/${name}/${what}` },
        update: { $inc: { count } },
        upsert: true,
      },
    }));
    await countsOf(db).bulkWrite(additions, { session });
  }
  for (const tenantId of ended) {
    await countsOf(db).deleteMany({ _id: { $gte: `${tenantId}/`, $lt: `${tenantId}0` } }, { session, hint });
  }
  return true;
}

/**
 * Returns an id that sorts before the ids of all counts for the day. The character after `/` in ASCII is `0`, so
 * `<tenant>0` sorts after all of the tenant's counts.
 */
function idOf(tenantId: string, series: DailySeries, day: number): string {
  return `${tenantId}/${series}/${String(day).padStart(6, '0')}`;
}

function partsOf(id: string): Pick<DayCount, 'day' | 'name' | 'what'> {
  const [, , day = '', name = '', what = ''] = id.split('/');
  return { day: Number(day), name, what };
}
