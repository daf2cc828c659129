import type { Collection, Db } from 'mongodb';
import type { ConsoleSessions, StoredConsoleSession } from '../../ports/console-sessions.js';
import type { MongoConnection } from './connection.js';

type SessionDocument = {
  readonly _id: string;
  readonly sealed: Buffer;
  readonly subjects: readonly string[];
  readonly expiresAt: number;
};

/**
 * Implements `ConsoleSessions` in the MongoDB database that contains the rows. There are usually fewer than a hundred
 * documents, and the console limits their number, so no index is needed except the one on `_id`.
 */
export function mongoConsoleSessions(connection: MongoConnection): ConsoleSessions {
  const sessions = (db: Db): Collection<SessionDocument> => db.collection<SessionDocument>('console_sessions');

  return {
    async insert(session) {
      await connection.call((db) => sessions(db).insertOne(documentOf(session)));
    },
    async get(id) {
      return sessionIn(await connection.call((db) => sessions(db).findOne({ _id: id })));
    },
    async replace(session) {
      const { _id, ...fields } = documentOf(session);
      const replaced = await connection.call((db) => sessions(db).replaceOne({ _id }, fields));
      return replaced.matchedCount === 1;
    },
    async take(id) {
      return sessionIn(await connection.call((db) => sessions(db).findOneAndDelete({ _id: id })));
    },
    async removeOf(subject) {
      const removed = await connection.call((db) => sessions(db).deleteMany({ subjects: subject }));
      return removed.deletedCount;
    },
    count: () => connection.call((db) => sessions(db).estimatedDocumentCount()),
    async forget(expiredBefore) {
      await connection.call((db) => sessions(db).deleteMany({ expiresAt: { $lt: expiredBefore } }));
    },
  };
}

function documentOf({ id, sealed, subjects, expiresAt }: StoredConsoleSession): SessionDocument {
  return { _id: id, sealed: Buffer.from(sealed), subjects, expiresAt };
}

function sessionIn(document: SessionDocument | null): StoredConsoleSession | null {
  if (document === null) return null;
  const { _id: id, sealed, subjects, expiresAt } = document;
  return { id, sealed, subjects, expiresAt };
}
