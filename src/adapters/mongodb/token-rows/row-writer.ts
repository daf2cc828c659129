import { MongoBulkWriteError } from 'mongodb';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { RowIndex } from '../../../ports/unit-of-work.js';
import type { Stored } from '../../../projections/row-mac.js';
import type { TokenView } from '../../../projections/token-view.js';
import type { MongoConnection } from '../connection.js';
import { forgetTombstones } from './forget-tombstones.js';
import type { RowDocument } from './row-document.js';
import { type RowWrite, writeOperation } from './row-write.js';
import { tokenRowsCollection } from './token-rows-indexes.js';

/**
 * `stale`: the stored row is as new or newer, so there is nothing to do. `gap`: the row keeps what it is found by, and
 * the stored one is not that which the events follow; whoever wrote folds the stream and says what it is found by.
 */
type RowOutcome = 'written' | 'stale' | 'gap';

const attemptsMax = 5;
const duplicateKey = 11_000;

/**
 * Writes the rows of one generation, which is to be compared with the one that is `read`, guarded by revision, so that
 * writers and the runner may come in any order and as often as they like. The place of the creating event is in the view by
 * now. Throws StoreUnavailable; the outcome is unknown then, and a repeat is harmless.
 */
export function mongoRowWriter({ call }: MongoConnection, generation: number, read: number | null = null) {
  const rowsName = tokenRowsCollection(generation);

  /** Revisions of the rows that are stored, tombstones too; a stream without a row is left out. */
  async function revisionsOf(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = await call((db) =>
      db
        .collection<RowDocument>(rowsName)
        .find({ _id: { $in: [...streams] } }, { projection: { revision: 1 } })
        .toArray(),
    );
    return new Map(found.map(({ _id, revision }) => [_id, revision]));
  }

  /**
   * Sends a batch, in no order. An upsert whose filter meets no row, though one is there, is a duplicate key: its guard
   * was not met. Answers how many rows were changed or made.
   */
  function send(writes: readonly RowWrite[]): Promise<number> {
    return call(async (db) => {
      const operations = writes.map((row) => writeOperation(row, { generation, read }));
      try {
        const result = await db.collection<RowDocument>(rowsName).bulkWrite(operations, { ordered: false });
        return result.matchedCount + result.upsertedCount;
      } catch (error) {
        if (!(error instanceof MongoBulkWriteError) || !onlyDuplicates(error)) throw error;
        // What was written beside the duplicates is not yet safe.
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
      // Somebody else wrote an older row between the two looks.
    }
    throw new Error('a row of an older revision was in the way of every attempt');
  }

  return {
    /**
     * Writes one row. `before`: the revision that the events follow, -1 for none; `at`: the time of the newest event,
     * from which a tombstone counts its days. The removal of a token leaves a tombstone even where no row was.
     */
    write,

    /**
     * Writes many rows, each stream once, and answers the streams whose row is still older than it should be: those of
     * a gap.
     */
    async writeMany(writes: readonly RowWrite[]): Promise<readonly string[]> {
      if (writes.length === 0 || (await send(writes)) === writes.length) return [];
      const stored = await revisionsOf(writes.map(({ view }) => view.stream));
      const gaps: string[] = [];
      for (const row of writes) {
        const { view, index, before, at } = row;
        const revision = stored.get(view.stream) ?? -1;
        if (revision >= view.state.revision) continue;
        // Of a race of two upserts one is refused, whichever revision is newer: it goes again, one by one.
        if (isGap(row, revision) || (await write(view, index, before, at)) === 'gap') gaps.push(view.stream);
      }
      return gaps;
    },

    revisionsOf,

    /** Forgets the tombstones of tokens removed before an instant (ms since the epoch) and answers how many. */
    forgetTombstones: (notBefore: number) => forgetTombstones(call, rowsName, notBefore),
  };
}

/** Whether the row keeps what it is found by, and the stored one is not that which its events follow. */
function isGap({ view, index, before }: Omit<RowWrite, 'at'>, stored: number): boolean {
  return index === 'keep' && view.state.life !== null && stored !== before;
}

function onlyDuplicates({ writeErrors }: MongoBulkWriteError): boolean {
  const errors = Array.isArray(writeErrors) ? writeErrors : [writeErrors];
  return errors.length > 0 && errors.every(({ code }) => code === duplicateKey);
}
