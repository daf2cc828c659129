import type { Db, Document } from 'mongodb';
import type { DirectoryRecord } from '../../../views/directory-view.js';
import type { Stored } from '../../../views/row-mac.js';
import type { MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { type DirectoryDocument, documentId, fieldsOf } from './directory-document.js';
import { directoryCollection } from './directory-indexes.js';

/**
 * `stale` means that the stored row is as new or newer. `gap` means that the tenant's stored row is not the one that
 * the events follow, so the rows of its applications may lack changes. The caller then folds the tenant's stream and
 * writes all of its records.
 */
export type DirectoryOutcome = 'written' | 'stale' | 'gap';

const attemptsMax = 5;

/**
 * Writes the rows of tenants and applications. A revision guards each row, so writers and the runner may write in any
 * order. If it throws StoreUnavailable, the outcome is unknown and a retry is harmless.
 */
export function mongoDirectoryWriter({ call }: MongoConnection) {
  const directory = (db: Db) => db.collection<DirectoryDocument>(directoryCollection);

  /**
   * Writes a record if its guard matches, and returns whether it did. An upsert of an existing record whose guard does
   * not match fails with a duplicate key.
   */
  async function applied(record: Stored<DirectoryRecord>, guard: Document, upsert: boolean): Promise<boolean> {
    const filter = { _id: documentId(record.kind, record.id), ...guard };
    try {
      const { matchedCount, upsertedCount } = await call((db) =>
        directory(db).updateOne(filter, [{ $set: fieldsKeepingUse(record) }], { upsert }),
      );
      return matchedCount + upsertedCount > 0;
    } catch (error) {
      if (error instanceof DuplicateKey) return false;
      throw error;
    }
  }

  async function storedRevision({ kind, id }: DirectoryRecord): Promise<number> {
    const found = await call((db) =>
      directory(db).findOne({ _id: documentId(kind, id) }, { projection: { revision: 1 } }),
    );
    return found?.revision ?? -1;
  }

  /**
   * Writes one record. `before` is the revision that the stored row must have, or null if any older revision will do.
   */
  async function writeOne(record: Stored<DirectoryRecord>, before: number | null): Promise<DirectoryOutcome> {
    const guard = { revision: before === null ? { $lt: record.revision } : before };
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      if (await applied(record, guard, before === null || before === -1)) return 'written';
      const stored = await storedRevision(record);
      if (stored >= record.revision) return 'stale';
      if (before !== null && stored !== before) return 'gap';
    }
    // This is not a race. A key of this record belongs to another record, and no event can cause that.
    throw new Error('a directory record cannot be written');
  }

  return {
    /**
     * Writes the records that result from events: applications first, and the tenant's own record last. The tenant's
     * record is written only if the stored one has the revision `before`, which the events follow (-1 if there is
     * none). A tenant's row is therefore never newer than the rows of its applications, even if two writers write rows
     * in a different order than they appended.
     */
    async write(records: readonly Stored<DirectoryRecord>[], before: number): Promise<DirectoryOutcome> {
      return writeInOrder(records, before);
    },

    /**
     * Writes all records of a tenant, folded from its whole stream. Because the set is complete, it may replace older
     * rows of any revision.
     */
    async writeAll(records: readonly Stored<DirectoryRecord>[]): Promise<DirectoryOutcome> {
      return writeInOrder(records, null);
    },
  };

  async function writeInOrder(
    records: readonly Stored<DirectoryRecord>[],
    before: number | null,
  ): Promise<DirectoryOutcome> {
    const ofKind = (kind: DirectoryRecord['kind']) => records.filter((record) => record.kind === kind);
    const applications = await Promise.all(ofKind('application').map((record) => writeOne(record, null)));
    const outcomes = [...applications];
    for (const tenant of ofKind('tenant')) outcomes.push(await writeOne(tenant, before));
    if (outcomes.includes('gap')) return 'gap';
    return outcomes.includes('written') ? 'written' : 'stale';
  }
}

/** Returns the update as server expressions, so that keys that remain keep their `used_on` and removed keys lose it. */
function fieldsKeepingUse(record: Stored<DirectoryRecord>): Document {
  const stored = { $ifNull: ['$keys', []] };
  const before = { $filter: { input: stored, as: 'old', cond: { $eq: ['$$old.hash', '$$key.hash'] } } };
  const keys = {
    $map: {
      input: { $literal: record.keys.map(({ id, hash }) => ({ id, hash })) },
      as: 'key',
      in: { $mergeObjects: [{ $first: before }, '$$key'] },
    },
  };
  const fields = Object.entries(fieldsOf(record)).map(([name, value]) => [name, { $literal: value }]);
  return { ...Object.fromEntries(fields), keys };
}
