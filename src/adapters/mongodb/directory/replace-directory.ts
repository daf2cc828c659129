import { isDeepStrictEqual } from 'node:util';
import type { AnyBulkWriteOperation } from 'mongodb';
import { tenantStream } from '../../../events/tenancy/streams.js';
import type { EventLog } from '../../../ports/event-log.js';
import type { DirectoryRecord } from '../../../views/directory-view.js';
import type { Stored } from '../../../views/row-mac.js';
import type { MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { type DirectoryDocument, directoryIn, documentId, fieldsOf, keysIn } from './directory-document.js';
import { readAllLimitMs } from './directory-indexes.js';

/** The number of writes in one command, which must end within the time limit of a call. */
const writesAtOnce = 1_000;

/**
 * Makes the stored rows equal to `records`, one row after another: removes rows that are not in `records`, replaces
 * rows that differ, and adds rows that are missing. A stored row that is newer than the records is not replaced,
 * because its tenant changed after the records were folded. Each key retains the minute of its last use. Returns false
 * if another process has changed one of these rows in the meantime. Some rows are then already replaced, and the caller
 * folds the records again.
 */
export async function replaceDirectory(
  connection: MongoConnection,
  records: readonly Stored<DirectoryRecord>[],
  log: Pick<EventLog, 'readStream'>,
): Promise<boolean> {
  const stored = await connection.call((db) => directoryIn(db).find({}).toArray(), readAllLimitMs);
  const writes = writesBetween(stored, records, await newerThan(records, stored, log));
  try {
    for (let from = 0; from < writes.length; from += writesAtOnce) {
      const batch = writes.slice(from, from + writesAtOnce);
      const done = await connection.call((db) => directoryIn(db).bulkWrite(batch));
      if (done.deletedCount + done.insertedCount + done.matchedCount < batch.length) return false;
    }
    return true;
  } catch (error) {
    if (error instanceof DuplicateKey) return false;
    throw error;
  }
}

/**
 * Returns the writes that make the stored rows equal to `records`, except the rows in `newer`. Removes rows first,
 * because a removed row may contain a key of another record.
 */
function writesBetween(
  stored: readonly DirectoryDocument[],
  records: readonly Stored<DirectoryRecord>[],
  newer: ReadonlySet<string>,
): readonly AnyBulkWriteOperation<DirectoryDocument>[] {
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
  const owners = new Map(made.flatMap(({ _id, keys }) => keys.map(({ hash }) => [hash, _id] as const)));
  const ids = new Set(made.map(({ _id }) => _id));
  const removed = stored.filter(
    (document) => !newer.has(document._id) && (!ids.has(document._id) || holdsForeignKey(document, owners)),
  );
  const left = new Map(stored.map((document) => [document._id, document]));
  for (const { _id } of removed) left.delete(_id);
  const written = made
    .filter((document) => !isDeepStrictEqual(document, left.get(document._id)))
    // Writes tenants last, so that a tenant's row is never newer than the rows of its applications.
    .toSorted((a, b) => Number(a.kind === 'tenant') - Number(b.kind === 'tenant'));
  return [
    ...removed.map(({ _id, revision }) => ({ deleteOne: { filter: { _id, revision } } })),
    ...written.map((document) => {
      const before = left.get(document._id);
      if (before === undefined) return { insertOne: { document } };
      return { replaceOne: { filter: { _id: before._id, revision: before.revision }, replacement: document } };
    }),
  ];
}

/**
 * Returns true if a row contains a key of another record, which could then not be written, because keys are unique.
 * `owners` maps the hash of each key to the id of its record. Threat: an attacker writes the key in another form, which
 * the index still finds.
 */
function holdsForeignKey({ _id, keys }: DirectoryDocument, owners: ReadonlyMap<string, string>): boolean {
  if (!Array.isArray(keys)) return true;
  return keys.some((key) => typeof key?.hash !== 'string' || (owners.get(key.hash) ?? _id) !== _id);
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
