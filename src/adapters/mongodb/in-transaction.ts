import type { ClientSession, Db } from 'mongodb';
import type { MongoConnection } from './connection.js';

/**
 * Runs the work in one transaction, which stores all of it or nothing. Reruns the work if it conflicts with another
 * transaction. The work must consist of a few statements in quick succession, because other processes end a transaction
 * that has been idle for two seconds.
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
