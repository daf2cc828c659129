import type { Collection, Db } from 'mongodb';
import { z } from 'zod';
import type { ConsoleSessions, StoredConsoleSession } from '../../ports/console-sessions.js';
import type { MongoConnection } from './connection.js';
import type { RequiredIndexes } from './required-indexes.js';

const collection = 'console_sessions';
const indexNames = { subjects: 'subjects', expiresAt: 'expires_at' } as const;

export const consoleSessionIndexes: RequiredIndexes = {
  collection,
  indexes: [
    { name: indexNames.subjects, key: { subjects: 1, expiresAt: -1 } },
    { name: indexNames.expiresAt, key: { expiresAt: 1 } },
  ],
};

type SessionDocument = {
  readonly _id: string;
  readonly sealed: Buffer;
  readonly subjects: readonly string[];
  readonly expiresAt: number;
};

/** The fields of a document. An attacker who can write to the database can store other types in the fields. */
const readable = z.object({
  _id: z.string(),
  sealed: z.instanceof(Buffer),
  subjects: z.array(z.string()),
  expiresAt: z.number(),
});

/**
 * Implements `ConsoleSessions` in the MongoDB database that contains the rows. Without the indexes, every sign-in would
 * read all documents. Threat: an attacker begins thousands of sign-ins to keep the server busy.
 */
export function mongoConsoleSessions(connection: MongoConnection): ConsoleSessions {
  const sessions = (db: Db): Collection<SessionDocument> => db.collection<SessionDocument>(collection);

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
    async removeOf(subjects) {
      const removed = await connection.call((db) =>
        sessions(db).deleteMany({ subjects: { $in: subjects } }, { hint: indexNames.subjects }),
      );
      return removed.deletedCount;
    },
    async keepLatestOf(subject, kept) {
      await connection.call(async (db) => {
        const surplus = await sessions(db)
          .find({ subjects: subject }, { hint: indexNames.subjects, projection: { _id: 1 } })
          .sort({ expiresAt: -1 })
          .skip(kept)
          .toArray();
        if (surplus.length > 0) await sessions(db).deleteMany({ _id: { $in: surplus.map(({ _id }) => _id) } });
      });
    },
    count: () => connection.call((db) => sessions(db).estimatedDocumentCount()),
    async forget(expiredBefore) {
      await connection.call((db) =>
        sessions(db).deleteMany({ expiresAt: { $lt: expiredBefore } }, { hint: indexNames.expiresAt }),
      );
    },
  };
}

function documentOf({ id, sealed, subjects, expiresAt }: StoredConsoleSession): SessionDocument {
  return { _id: id, sealed: Buffer.from(sealed), subjects, expiresAt };
}

/** Returns null if there is no document, or if a field has a type that the vault does not write. */
function sessionIn(document: SessionDocument | null): StoredConsoleSession | null {
  const read = readable.safeParse(document);
  if (!read.success) return null;
  const { _id: id, sealed, subjects, expiresAt } = read.data;
  return { id, sealed, subjects, expiresAt };
}
