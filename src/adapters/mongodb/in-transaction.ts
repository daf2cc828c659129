import type { ClientSession, Db } from 'mongodb';
import type { MongoConnection } from './connection.js';

/**
 * Runs `work` in one transaction, so that all of its changes are stored or none. Runs it again if it conflicts with
 * another transaction. `work` must consist of a few statements in quick succession, because other processes end a
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
