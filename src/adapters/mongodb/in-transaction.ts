import type { ClientSession, Db } from 'mongodb';
import type { MongoConnection } from './connection.js';

/**
 * Runs the work in one transaction, which stores all of it or nothing. Runs it again if it conflicts with another
 * transaction. The work must consist of a few statements in close succession, because another process ends a
 * transaction that has been idle for two seconds.
 */
export function inTransaction<T>(
  { call }: MongoConnection,
  work: (db: Db, session: ClientSession) => Promise<T>,
): Promise<T> {
  return call((db) =>
    db.client.withSession((session) =>
      session.withTransaction(() => work(db, session), { readConcern: { level: 'snapshot' } }),
    ),
  );
}
