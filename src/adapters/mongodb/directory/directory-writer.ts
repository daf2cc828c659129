import type { Db, Document } from 'mongodb';
import type { DirectoryRecord } from '../../../views/directory-view.js';
import type { Stored } from '../../../views/row-mac.js';
import type { MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { type DirectoryDocument, documentId, fieldsOf } from './directory-document.js';
import { directoryCollection } from './directory-indexes.js';

/**
 * The result of a write. `stale` means that the stored row has the same revision or a newer one. `gap` means that the
 * tenant's stored row does not have the revision that the events follow, so the rows of the tenant's applications may
 * lack changes. The caller then folds the tenant's stream and writes all of its records.
 */
export type DirectoryOutcome = 'written' | 'stale' | 'gap';

const attemptsMax = 5;

/**
 * Writes the rows of tenants and applications. Each write checks the revision of the stored row, so commands and the
 * runner may write in any order. If a write throws StoreUnavailable, its outcome is unknown, and it is safe to retry.
 */
export function mongoDirectoryWriter({ call }: MongoConnection) {
  const directory = (db: Db) => db.collection<DirectoryDocument>(directoryCollection);

  /**
   * Writes a record if the stored record matches the guard. Returns true if the record was written. With `upsert`,
   * MongoDB reports a duplicate key if the record exists but does not match the guard.
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
   * Writes one record. `before` is the revision that the stored row must have. If `before` is null, the stored row may
   * have any older revision.
   */
  async function writeOne(record: Stored<DirectoryRecord>, before: number | null): Promise<DirectoryOutcome> {
    const guard = { revision: before === null ? { $lt: record.revision } : before };
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      if (await applied(record, guard, before === null || before === -1)) return 'written';
      const stored = await storedRevision(record);
      if (stored >= record.revision) return 'stale';
      if (before !== null && stored !== before) return 'gap';
    }
    // A concurrent write cannot cause this. A key in this record also belongs to another record, and no event can have
    // that result.
    throw new Error('a directory record cannot be written');
  }

  return {
    /**
     * Writes the records that result from a tenant's events: first the applications, and then the tenant itself.
     * `before` is the revision before these events, or -1 if there is none. The tenant's record is written only if the
     * stored record has this revision. A tenant's row is therefore never newer than the rows of its applications, even
     * if two processes append events in one order and write rows in another.
     */
    async write(records: readonly Stored<DirectoryRecord>[], before: number): Promise<DirectoryOutcome> {
      return writeInOrder(records, before);
    },

    /**
     * Writes all records of a tenant, which were folded from its whole stream. The records are complete, so they may
     * replace older rows of any revision.
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

/**
 * Returns the update as expressions that MongoDB evaluates. Keys that remain keep their `used_on`, and removed keys
 * lose it.
 */
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
