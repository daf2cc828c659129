import type { DirectoryRecord } from '../../../ports/directory.js';
import type { MongoConnection } from '../connection.js';
import { inTransaction } from '../in-transaction.js';
import { type DirectoryDocument, documentId, fieldsOf } from './directory-document.js';
import { directoryCollection } from './directory-indexes.js';

/**
 * Puts these rows in the place of all that are no newer, in one transaction, and removes what is in none of them. Keys keep
 * the day of their last use. What was written since the rows were folded is newer and stays.
 */
export async function replaceDirectory(
  connection: MongoConnection,
  records: readonly DirectoryRecord[],
): Promise<void> {
  await inTransaction(connection, async (db, session) => {
    const directory = db.collection<DirectoryDocument>(directoryCollection);
    const stored = await directory.find({}, { session }).toArray();
    const usedOn = new Map(stored.flatMap(({ keys }) => keys.map(({ hash, used_on }) => [hash, used_on] as const)));
    const revisions = new Map(stored.map(({ _id, revision }) => [_id, revision]));
    for (const record of records) {
      const _id = documentId(record.kind, record.id);
      if ((revisions.get(_id) ?? -1) > record.revision) continue;
      const keys = record.keys.map((key) => {
        const day = usedOn.get(key.hash);
        return { ...key, ...(day === undefined ? {} : { used_on: day }) };
      });
      await directory.replaceOne({ _id }, { ...fieldsOf(record), keys }, { upsert: true, session });
    }
  });
}
