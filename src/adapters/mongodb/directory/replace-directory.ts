import { isDeepStrictEqual } from 'node:util';
import type { AnyBulkWriteOperation, Db } from 'mongodb';
import { tenantStream } from '../../../events/tenancy/streams.js';
import type { EventLog } from '../../../ports/event-log.js';
import type { DirectoryRecord } from '../../../views/directory-view.js';
import type { Stored } from '../../../views/row-mac.js';
import type { MongoConnection } from '../connection.js';
import { inTransaction } from '../in-transaction.js';
import { DuplicateKey } from '../mongo-error.js';
import { type DirectoryDocument, documentId, fieldsOf, keysIn } from './directory-document.js';
import { directoryCollection } from './directory-indexes.js';

/** MongoDB ends a transaction that takes longer than this. */
const transactionMs = 60_000;
/** The number of writes in one operation, which must end within the time limit of a single operation. */
const writesAtOnce = 1_000;

const collectionIn = (db: Db) => db.collection<DirectoryDocument>(directoryCollection);

/**
 * Replaces the stored rows that differ from `records`, and removes each stored row that is not in `records`, in one
 * transaction. Then adds the rows that are missing, which can be too many for a transaction. A stored row that is newer
 * than the records is not replaced, because its tenant changed after the records were folded. Each key retains the
 * minute of its last use. If another process changes one of these rows in the meantime, returns false, and the caller
 * folds the records again.
 */
export async function replaceDirectory(
  connection: MongoConnection,
  records: readonly Stored<DirectoryRecord>[],
  log: Pick<EventLog, 'readStream'>,
): Promise<boolean> {
  const stored = await connection.call((db) => collectionIn(db).find({}).toArray(), transactionMs);
  const newer = await newerThan(records, stored, log);
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
  const documents = new Map(stored.map((document) => [document._id, document]));
  const equal = made.filter((document) => isDeepStrictEqual(document, documents.get(document._id)));
  const kept = new Set([...newer, ...equal.map(({ _id }) => _id)]);
  const isKept = ({ _id }: DirectoryDocument) => kept.has(_id);
  const isStored = ({ _id }: DirectoryDocument) => documents.has(_id);
  const wanted = made.filter((document) => !isKept(document));
  // A tenant's row is never newer than the rows of its applications.
  const missing = wanted
    .filter((document) => !isStored(document))
    .toSorted((a, b) => Number(a.kind === 'tenant') - Number(b.kind === 'tenant'));
  try {
    await replaceRows(
      connection,
      stored.filter((document) => !isKept(document)),
      wanted.filter(isStored),
    );
    for (let from = 0; from < missing.length; from += writesAtOnce) {
      const batch = missing.slice(from, from + writesAtOnce);
      await connection.call((db) => collectionIn(db).insertMany(batch));
    }
    return true;
  } catch (error) {
    if (error instanceof ChangedMeanwhile || error instanceof DuplicateKey) return false;
    throw error;
  }
}

/**
 * Removes and adds rows in one transaction. Throws ChangedMeanwhile if a row to remove has another revision. Removes
 * rows before it adds any, because a forged row can contain the key of another row.
 */
async function replaceRows(
  connection: MongoConnection,
  removed: readonly DirectoryDocument[],
  added: readonly DirectoryDocument[],
): Promise<void> {
  if (removed.length === 0) return;
  const writes: readonly AnyBulkWriteOperation<DirectoryDocument>[] = [
    ...removed.map(({ _id, revision }) => ({ deleteOne: { filter: { _id, revision } } })),
    ...added.map((document) => ({ insertOne: { document } })),
  ];
  await inTransaction(
    connection,
    async (db, session) => {
      let removals = 0;
      for (let from = 0; from < writes.length; from += writesAtOnce) {
        const batch = writes.slice(from, from + writesAtOnce);
        removals += (await collectionIn(db).bulkWrite(batch, { session })).deletedCount;
      }
      if (removals < removed.length) throw new ChangedMeanwhile();
    },
    transactionMs,
  );
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
