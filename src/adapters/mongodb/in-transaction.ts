import type { ClientSession, Db } from 'mongodb';
import type { MongoConnection } from './connection.js';

/**
 * Runs the work in one transaction, again when another one was in its way: all of it is stored or nothing. The work has few
 * statements with next to nothing between them: another process ends a transaction that waited two seconds for its next ones.
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
