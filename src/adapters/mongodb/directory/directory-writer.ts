import type { Db, Document } from 'mongodb';
import type { DirectoryRecord } from '../../../views/directory-view.js';
import type { Stored } from '../../../views/row-mac.js';
import type { MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { type DirectoryDocument, documentId, fieldsOf } from './directory-document.js';
import { directoryCollection } from './directory-indexes.js';

/**
 * `stale`: what is stored is as new or newer. `gap`: the tenant's row is not that which the events follow, so that rows
 * of applications may be missing changes; whoever wrote folds the tenant's stream and writes all its records.
 */
export type DirectoryOutcome = 'written' | 'stale' | 'gap';

const attemptsMax = 5;

/**
 * Writes the rows of tenants and applications, each guarded by its revision, so that writers and the runner may come in
 * any order. Throws StoreUnavailable; the outcome is unknown then, and a repeat is harmless.
 */
export function mongoDirectoryWriter({ call }: MongoConnection) {
  const directory = (db: Db) => db.collection<DirectoryDocument>(directoryCollection);

  /** Whether the write changed a record. An upsert whose filter meets none, though it is there, is a duplicate key. */
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

  /** `before`: the revision that a row which is there must have; null: any older one. */
  async function writeOne(record: Stored<DirectoryRecord>, before: number | null): Promise<DirectoryOutcome> {
    const guard = { revision: before === null ? { $lt: record.revision } : before };
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      if (await applied(record, guard, before === null || before === -1)) return 'written';
      const stored = await storedRevision(record);
      if (stored >= record.revision) return 'stale';
      if (before !== null && stored !== before) return 'gap';
    }
    // Not a race: a key of this record is one of another, which no change can lead to.
    throw new Error('a record of the directory cannot be written');
  }

  return {
    /**
     * Writes the records that events lead to: applications first, the tenant's own last, and that only when the stored
     * one has the revision `before`, which the events follow (-1: none is there). So the row of a tenant is never newer
     * than those of its applications, also when two writers project in another order than they appended in.
     */
    async write(records: readonly Stored<DirectoryRecord>[], before: number): Promise<DirectoryOutcome> {
      return writeInOrder(records, before);
    },

    /** Writes all records of a tenant, folded from its whole stream: none is missing, so older rows do not matter. */
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
 * In the server's own terms, so that a key which stays keeps the note of its last use, and one that goes takes it
 * along.
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
