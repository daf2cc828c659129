import { performance } from 'node:perf_hooks';
import { type AggregateOptions, type ClientSession, type Db, type Document, MongoServerError } from 'mongodb';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { MongoConnection } from './connection.js';

const maxTimeMsExpired = 50;
/**
 * The default time limit for all reads in a snapshot, in ms. It is shorter than the time limit of `call`, so the server
 * stops a slow read before `call` gives up. The slow read is then reported as `tooLong`.
 */
const patienceMaxMs = 4_500;

/** The options for one read in a snapshot. */
export type SnapshotOptions = {
  readonly session: ClientSession;
  readonly readConcern: { readonly level: 'snapshot' };
  readonly maxTimeMS: number;
};

/**
 * Runs several reads that all see the data as it was at the first read, including every write that a majority had
 * acknowledged by then. Call `options()` again for each read. If the reads together take longer than `limitMs` (4.5 s
 * by default), throws StoreUnavailable with the reason `tooLong`.
 */
export function readSnapshot<T>(
  { call }: MongoConnection,
  tooLong: string,
  read: (db: Db, options: () => SnapshotOptions) => Promise<T>,
  limitMs = patienceMaxMs,
): Promise<T> {
  return call(async (db) => {
    const endsAt = performance.now() + limitMs;
    const session = db.client.startSession({ snapshot: true });
    const options = (): SnapshotOptions => {
      const maxTimeMS = Math.ceil(endsAt - performance.now());
      if (maxTimeMS <= 0) throw new StoreUnavailable('mongodb', tooLong);
      return { session, readConcern: { level: 'snapshot' }, maxTimeMS };
    };
    try {
      return await read(db, options);
    } catch (error) {
      const late = error instanceof MongoServerError && error.code === maxTimeMsExpired;
      throw late ? new StoreUnavailable('mongodb', tooLong) : error;
    } finally {
      await session.endSession();
    }
  });
}

/**
 * Returns the number of documents that match a filter, but at most `limit`. If the index contains all fields in the
 * filter, only the index is read.
 */
export async function countBy(
  db: Db,
  collection: string,
  filter: Document,
  { limit, ...options }: AggregateOptions & { readonly hint: string; readonly limit?: number },
): Promise<number> {
  const pipeline = [{ $match: filter }, ...(limit === undefined ? [] : [{ $limit: limit }]), { $count: 'count' }];
  const [found] = await db.collection(collection).aggregate<{ count: number }>(pipeline, options).toArray();
  return found?.count ?? 0;
}
