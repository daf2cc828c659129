import { MongoBulkWriteError } from 'mongodb';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { RowIndex } from '../../../ports/unit-of-work.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';
import type { MongoConnection } from '../connection.js';
import { duplicateKey } from '../mongo-error.js';
import { olderThan, revisionIn } from '../stored-revision.js';
import { keepingUpdate, type RowDocument, type RowGeneration, rowOf } from './row-document.js';
import { rowIndexes, tokenRowsCollection } from './token-rows-indexes.js';

/**
 * A row to write. `before` is the stream's revision before the events that changed the row. `at` is the time of the
 * newest of these events, in ms since the epoch.
 */
export type RowWrite = {
  readonly view: Stored<TokenView>;
  readonly index: RowIndex;
  readonly before: number;
  readonly at: number;
};

/**
 * The result of a write. `stale` means that the stored row has the same revision or a newer one, so nothing has to be
 * done. `gap` means that the new row should keep the search terms of the stored row, but the stored row does not have
 * the revision just before the new events. In this case, the caller folds the stream to compute the terms.
 */
type RowOutcome = 'written' | 'stale' | 'gap';

const attemptsMax = 5;

/**
 * Creates a writer for the rows of one generation. Each write checks the revision of the stored row, so commands and
 * the runner can write in any order and more than once. The view must already contain the position of the event that
 * created the token. If a write throws StoreUnavailable, it is unknown whether the write took effect. The caller can
 * safely repeat the write.
 */
export function mongoRowWriter({ call }: MongoConnection, generation: number, read: number | null = null) {
  const rowsName = tokenRowsCollection(generation);

  /** Returns the revisions of the stored rows, including tombstones. Streams without a row are omitted. */
  async function revisionsOf(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = await call((db) =>
      db
        .collection<RowDocument>(rowsName)
        .find({ _id: { $in: [...streams] } }, { projection: { revision: 1 } })
        .toArray(),
    );
    return new Map(found.map((row) => [row._id, revisionIn(row)]));
  }

  /**
   * Sends an unordered batch, and returns the number of rows changed or created. A duplicate key error means that the
   * stored row is not older than the row in the batch.
   */
  function send(writes: readonly RowWrite[]): Promise<number> {
    return call(async (db) => {
      const operations = writes.map((row) => writeOperation(row, { generation, read }));
      try {
        const result = await db.collection<RowDocument>(rowsName).bulkWrite(operations, { ordered: false });
        return result.matchedCount + result.upsertedCount;
      } catch (error) {
        if (!(error instanceof MongoBulkWriteError) || !onlyDuplicates(error)) throw error;
        // A majority of the nodes has not yet confirmed the rows that were written.
        if (error.result.getWriteConcernError() !== undefined) throw new StoreUnavailable('mongodb', 'not_confirmed');
        return error.matchedCount + error.upsertedCount;
      }
    });
  }

  async function write(view: Stored<TokenView>, index: RowIndex, before: number, at: number): Promise<RowOutcome> {
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      if ((await send([{ view, index, before, at }])) > 0) return 'written';
      const stored = (await revisionsOf([view.stream])).get(view.stream) ?? -1;
      if (stored >= view.state.revision) return 'stale';
      if (isGap({ view, index, before }, stored)) return 'gap';
      // Another writer stored an older row between the write attempt and this read. Retries.
    }
    throw new Error('a row with an older revision blocked every write attempt');
  }

  return {
    /**
     * Writes one row. `before` is the stream's revision before the new events, or -1 if these are its first events.
     * `at` is the time of the newest event. The age of a tombstone is measured from this time. If the token is gone,
     * writes a tombstone even if no row was stored.
     */
    write,

    /** Writes many rows. Each row must be from a different stream. Returns the streams whose result is `gap`. */
    async writeMany(writes: readonly RowWrite[]): Promise<readonly string[]> {
      if (writes.length === 0 || (await send(writes)) === writes.length) return [];
      const stored = await revisionsOf(writes.map(({ view }) => view.stream));
      const gaps: string[] = [];
      for (const row of writes) {
        const { view, index, before, at } = row;
        const revision = stored.get(view.stream) ?? -1;
        if (revision >= view.state.revision) continue;
        // Retries each row that was not written. If two upserts of a row run at the same time, one of them can fail
        // even if it has the newer revision.
        if (isGap(row, revision) || (await write(view, index, before, at)) === 'gap') gaps.push(view.stream);
      }
      return gaps;
    },

    revisionsOf,

    /**
     * Removes the tombstones of tokens that ended before `notBefore` (ms since the epoch). Returns how many were
     * removed.
     */
    forgetTombstones: (notBefore: number) => forgetTombstones(call, rowsName, notBefore),
  };
}

/**
 * Returns the write operation for one row, with a filter on the stored revision. A complete row replaces any older row,
 * or is inserted if no row exists. If a live row keeps its search terms, the operation updates a stored row only if
 * that row has the revision `before`. A stored row with any other revision can have different search terms.
 */
function writeOperation({ view, index, before, at }: RowWrite, generation: RowGeneration) {
  const { stream: _id, state } = view;
  if (index === 'keep' && state.life !== null) {
    return { updateOne: { filter: { _id, revision: before }, update: keepingUpdate(view, state.life) } };
  }
  const replacement = rowOf(view, index === 'keep' ? null : index, generation, at);
  return { replaceOne: { filter: { _id, ...olderThan(state.revision) }, replacement, upsert: true } };
}

/**
 * Returns true if the row should keep the search terms of the stored row, but the stored row does not have the revision
 * `before`.
 */
function isGap({ view, index, before }: Omit<RowWrite, 'at'>, stored: number): boolean {
  return index === 'keep' && view.state.life !== null && stored !== before;
}

function onlyDuplicates({ writeErrors }: MongoBulkWriteError): boolean {
  const errors = Array.isArray(writeErrors) ? writeErrors : [writeErrors];
  return errors.length > 0 && errors.every(({ code }) => code === duplicateKey);
}

/**
 * The number of tombstones removed in one batch. With batches of this size, a call stays well within its time limit.
 */
const batchSize = 1_000;

/**
 * Removes the tombstones of tokens that ended before `notBefore`, and returns how many were removed. Does not remove
 * the row of a token that has been created again since the tombstones were read.
 */
async function forgetTombstones(call: MongoConnection['call'], rowsName: string, notBefore: number): Promise<number> {
  const old = { removed_at: { $lt: notBefore } };
  for (let forgotten = 0; ; ) {
    const deleted = await call(async (db) => {
      const rows = db.collection<RowDocument>(rowsName);
      const found = await rows
        .find(old, { projection: { _id: 1 }, hint: rowIndexes.removedAt, limit: batchSize })
        .toArray();
      const { deletedCount } = await rows.deleteMany({ _id: { $in: found.map(({ _id }) => _id) }, ...old });
      return deletedCount;
    });
    // Threat: an attacker plants a tombstone that is found but cannot be removed, so that the sweep never ends.
    if (deleted === 0) return forgotten;
    forgotten += deleted;
  }
}
