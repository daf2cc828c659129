import type { Collection, Db } from 'mongodb';
import type { Checkpoints } from '../../ports/checkpoints.js';
import { leaseHasExpired } from './age.js';
import type { MongoConnection } from './connection.js';

type Checkpoint = {
  readonly _id: string;
  readonly position: number;
  readonly epoch: number;
  readonly holder: string | null;
  /** The time when the lease expires, according to MongoDB's clock. */
  readonly until: Date;
};

/** Returns a MongoDB expression that is true if no process holds the lease. */
function isFree(leaseMs: number) {
  return { $or: [{ $eq: [{ $ifNull: ['$holder', null] }, null] }, leaseHasExpired('$until', leaseMs)] };
}

/**
 * Implements `Checkpoints` in the MongoDB database that contains the rows. Each new leader gets a new epoch. The filter
 * of every write contains the epoch of the leader that makes the write, so a write by a former leader has no effect. A
 * field with an impossible value counts as missing: no process leads, and the next leader reads the log from its
 * beginning.
 */
export function mongoCheckpoints(connection: MongoConnection): Checkpoints {
  const checkpoints = (db: Db): Collection<Checkpoint> => db.collection<Checkpoint>('checkpoints');

  return {
    async lead(name, holder, leaseMs) {
      const until = { $add: ['$$NOW', leaseMs] };
      const mine = { $eq: ['$holder', holder] };
      // MongoDB compares values of different types by their types, and NaN is less than any other number.
      const isEpoch = { $and: [{ $gte: ['$epoch', 0] }, { $lt: ['$epoch', Number.MAX_SAFE_INTEGER] }] };
      const epoch = { $add: [{ $cond: [isEpoch, '$epoch', 0] }, 1] };
      const taken = { _id: name, position: { $ifNull: ['$position', 0] }, holder, until, epoch };
      const pipeline = [
        {
          $replaceWith: {
            $cond: [mine, { $mergeObjects: ['$$ROOT', { until }] }, { $cond: [isFree(leaseMs), taken, '$$ROOT'] }],
          },
        },
      ];
      const after = await connection.call((db) =>
        checkpoints(db).findOneAndUpdate({ _id: name }, pipeline, { upsert: true, returnDocument: 'after' }),
      );
      return after?.holder === holder ? { name, epoch: after.epoch } : null;
    },
    async isLed(name, leaseMs) {
      const led = { _id: name, $expr: { $not: isFree(leaseMs) } };
      return (await connection.call((db) => checkpoints(db).findOne(led))) !== null;
    },
    async resign({ name, epoch }) {
      await connection.call((db) => checkpoints(db).updateOne({ _id: name, epoch }, { $set: { holder: null } }));
    },
    async position(name) {
      const position: unknown = (await connection.call((db) => checkpoints(db).findOne({ _id: name })))?.position;
      return typeof position === 'number' && Number.isSafeInteger(position) && position >= 0 ? position : 0;
    },
    async save({ name, epoch }, position) {
      const saved = await connection.call((db) =>
        checkpoints(db).updateOne({ _id: name, epoch }, { $set: { position } }),
      );
      return saved.matchedCount === 1;
    },
  };
}
