import type { Db } from 'mongodb';
import { tenantStream } from '../../../events/tenancy/streams.js';
import type { EventLog } from '../../../ports/event-log.js';
import type { DirectoryRecord } from '../../../views/directory-view.js';
import type { Stored } from '../../../views/row-mac.js';
import type { MongoConnection } from '../connection.js';
import { inTransaction } from '../in-transaction.js';
import { DuplicateKey } from '../mongo-error.js';
import { type DirectoryDocument, documentId, fieldsOf, keysIn } from './directory-document.js';
import { directoryCollection } from './directory-indexes.js';

const collectionIn = (db: Db) => db.collection<DirectoryDocument>(directoryCollection);

/**
 * Replaces all stored rows with `records` in one transaction. Removes each stored row that is not in `records`. A
 * stored row that is newer than the records is not replaced, because its tenant changed after the records were folded.
 * Each key retains the minute of its last use. If another process changes a row while the rows are being replaced,
 * replaces nothing and returns false.
 */
export async function replaceDirectory(
  connection: MongoConnection,
  records: readonly Stored<DirectoryRecord>[],
  log: Pick<EventLog, 'readStream'>,
): Promise<boolean> {
  const stored = await connection.call((db) => collectionIn(db).find({}).toArray());
  const newer = await newerThan(records, stored, log);
  const replaced = stored.filter(({ _id }) => !newer.has(_id));
  const usedOn = new Map(
    stored.flatMap((document) => keysIn(document).map(({ hash, used_on }) => [hash, used_on] as const)),
  );
  const made = records
    .map((record): DirectoryDocument => {
      const keys = record.keys.map(({ id, hash }) => {
        const minute = usedOn.get(hash);
        return { id, hash, ...(minute === undefined ? {} : { used_on: minute }) };
      });
      return { _id: documentId(record.kind, record.id), ...fieldsOf(record), keys };
    })
    .filter(({ _id }) => !newer.has(_id));
  try {
    return await inTransaction(connection, async (db, session) => {
      const removals = replaced.map(({ _id, revision }) => ({ deleteOne: { filter: { _id, revision } } }));
      const inserts = made.map((document) => ({ insertOne: { document } }));
      if (removals.length + inserts.length === 0) return true;
      const { deletedCount } = await collectionIn(db).bulkWrite([...removals, ...inserts], { session });
      if (deletedCount < replaced.length) throw new ChangedMeanwhile();
      return true;
    });
  } catch (error) {
    if (error instanceof ChangedMeanwhile || error instanceof DuplicateKey) return false;
    throw error;
  }
}

/**
 * Returns the ids of the stored rows that are newer than the records. A row is newer if events were appended after the
 * records were folded.
 */
async function newerThan(
  records: readonly Stored<DirectoryRecord>[],
  stored: readonly DirectoryDocument[],
  log: Pick<EventLog, 'readStream'>,
): Promise<ReadonlySet<string>> {
  const folded = new Map(records.flatMap(({ kind, id, revision }) => (kind === 'tenant' ? [[id, revision]] : [])));
  const ahead = stored.filter(({ tenant, revision }) => revision > (folded.get(tenant) ?? -1));
  const ends = new Map<string, number>();
  for (const tenant of new Set(ahead.map(({ tenant }) => tenant))) {
    ends.set(tenant, (await log.readStream(tenantStream(tenant))).length - 1);
  }
  return new Set(ahead.filter(({ tenant, revision }) => revision <= (ends.get(tenant) ?? -1)).map(({ _id }) => _id));
}

class ChangedMeanwhile extends Error {}
