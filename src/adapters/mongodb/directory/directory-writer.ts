import type { Document } from 'mongodb';
import { atMost } from '../../../domain/at-most.js';
import type { BlockedRecord } from '../../../ports/directory.js';
import type { DirectoryRecord } from '../../../views/directory-view.js';
import type { Stored } from '../../../views/row-mac.js';
import type { MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { olderThan, revisionIn } from '../stored-revision.js';
import { directoryIn, documentId, fieldsOf } from './directory-document.js';

/**
 * The result of a write. `stale` means that the stored row has the same revision or a newer one. `gap` means that the
 * tenant's stored row does not have the revision just before the new events. The rows of the tenant's applications may
 * then lack changes too, so the caller folds the tenant's stream and writes all of its records.
 */
export type DirectoryOutcome = 'written' | 'stale' | 'gap';

const attemptsMax = 5;
/** The number of rows that are written at the same time. Each write has its own time limit. */
const writtenAtOnce = 16;
/** The number of ids in one query. */
const readAtOnce = 1_000;

/**
 * Creates the writer for the rows of tenants and applications. Each write checks the revision of the stored row, so
 * commands and the runner can write in any order. If a write throws StoreUnavailable, it is unknown whether the write
 * took effect. The caller can safely repeat the write.
 */
export function mongoDirectoryWriter({ call }: MongoConnection) {
  /**
   * Writes a record if the stored record matches `guard`. Returns true if the record was written. If `upsert` is true
   * and the stored record does not match, MongoDB reports a duplicate key, and the result is false.
   */
  async function applied(record: Stored<DirectoryRecord>, guard: Document, upsert: boolean): Promise<boolean> {
    const filter = { _id: documentId(record.kind, record.id), ...guard };
    try {
      const { matchedCount, upsertedCount } = await call((db) =>
        directoryIn(db).updateOne(filter, [{ $set: fieldsKeepingUse(record) }], { upsert }),
      );
      return matchedCount + upsertedCount > 0;
    } catch (error) {
      if (error instanceof DuplicateKey) return false;
      throw error;
    }
  }

  async function storedRevision({ kind, id }: DirectoryRecord): Promise<number> {
    const found = await call((db) =>
      directoryIn(db).findOne({ _id: documentId(kind, id) }, { projection: { revision: 1 } }),
    );
    return revisionIn(found);
  }

  async function storedRevisions(records: readonly DirectoryRecord[]): Promise<ReadonlyMap<string, number>> {
    const revisions = new Map<string, number>();
    for (let from = 0; from < records.length; from += readAtOnce) {
      const ids = records.slice(from, from + readAtOnce).map(({ kind, id }) => documentId(kind, id));
      const rows = await call((db) =>
        directoryIn(db)
          .find({ _id: { $in: ids } }, { projection: { revision: 1 } })
          .toArray(),
      );
      for (const row of rows) revisions.set(row._id, revisionIn(row));
    }
    return revisions;
  }

  /**
   * Writes one record. The stored row must have the revision `before`. If `before` is null, the stored row can have any
   * older revision.
   */
  async function writeOne(
    record: Stored<DirectoryRecord>,
    before: number | null,
  ): Promise<DirectoryOutcome | BlockedRecord> {
    const guard = before === null ? olderThan(record.revision) : { revision: before };
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      if (await applied(record, guard, before === null || before === -1)) return 'written';
      const stored = await storedRevision(record);
      if (stored >= record.revision) return 'stale';
      if (before !== null && stored !== before) return 'gap';
    }
    // This failure was not caused by a concurrent write: a key in this record also belongs to another record. No
    // sequence of events can produce two such records.
    return { blocked: record };
  }

  return {
    /**
     * Writes the records that result from a tenant's events. `before` is the revision before these events, or -1 if
     * they are the first events. Writes the application records first. Then writes the tenant record, but only if the
     * stored one has the revision `before`. A tenant's row is therefore never newer than the rows of its applications,
     * even if two processes append events in one order and write the rows in the opposite order.
     */
    async write(records: readonly Stored<DirectoryRecord>[], before: number): Promise<DirectoryOutcome> {
      const outcome = await writeInOrder(records, before);
      return typeof outcome === 'string' ? outcome : 'gap';
    },

    /**
     * Writes those of a tenant's records that are newer than the stored rows. The records were folded from the whole
     * stream and are complete, so they can replace older rows of any revision.
     */
    async writeAll(records: readonly Stored<DirectoryRecord>[]): Promise<DirectoryOutcome | BlockedRecord> {
      const revisions = await storedRevisions(records);
      const newer = ({ kind, id, revision }: DirectoryRecord) => revision > (revisions.get(documentId(kind, id)) ?? -1);
      return writeInOrder(records.filter(newer), null);
    },
  };

  async function writeInOrder(
    records: readonly Stored<DirectoryRecord>[],
    before: number | null,
  ): Promise<DirectoryOutcome | BlockedRecord> {
    const ofKind = (kind: DirectoryRecord['kind']) => records.filter((record) => record.kind === kind);
    const outcomes = await atMost(writtenAtOnce, ofKind('application'), (record) => writeOne(record, null));
    // The row of the tenant must not become newer than the rows of its applications.
    const blocked = outcomes.find((outcome) => typeof outcome !== 'string');
    if (blocked !== undefined) return blocked;
    for (const tenant of ofKind('tenant')) outcomes.push(await writeOne(tenant, before));
    const last = outcomes.at(-1);
    if (typeof last === 'object') return last;
    if (outcomes.includes('gap')) return 'gap';
    return outcomes.includes('written') ? 'written' : 'stale';
  }
}

/**
 * Returns the update as expressions that MongoDB evaluates. They preserve `used_on` for each key that still exists.
 * Threat: an attacker replaces the list of keys with a value that is no list, so that the record cannot be written.
 */
function fieldsKeepingUse(record: Stored<DirectoryRecord>): Document {
  const stored = { $cond: [{ $isArray: '$keys' }, '$keys', []] };
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
