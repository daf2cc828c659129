import type { ClientSession, Db } from 'mongodb';
import type { MongoConnection } from './connection.js';

/**
 * Runs `work` in one transaction, so that either all of its changes are stored or none are. If the transaction
 * conflicts with another transaction, runs `work` again. `work` must be short (a few statements in quick succession),
 * because other processes end any transaction that has been idle for two seconds.
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
