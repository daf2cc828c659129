import type { AccessCount } from '../../../ports/access-log.js';
import type { SqliteDatabase } from '../database/open-database.js';

/**
 * The approximate number of entries that one call counts. Counting this many entries blocks the thread for a few
 * milliseconds.
 */
const entriesMax = 5_000;

type Place = { readonly id: number; readonly batch: number };

/**
 * Counts the entries in one month's file. Entries are only appended, so their batch numbers never decrease as their ids
 * increase. The first entry of a batch can therefore be found with a binary search over the ids, without an index on
 * `batch`.
 */
export function createEntryCounter(database: SqliteDatabase) {
  const last = database.prepare('SELECT id, batch FROM entries ORDER BY id DESC LIMIT 1');
  const from = database.prepare('SELECT id, batch FROM entries WHERE id >= ? ORDER BY id LIMIT 1');
  const counts = database.prepare(
    `SELECT tenants.text AS tenantId, operations.text AS operation, outcomes.text AS outcome, day, count
     FROM (
       SELECT tenant, operation, outcome, time / 86400000 AS day, count(*) AS count FROM entries
       WHERE id >= ? AND id < ? AND entity_type = (SELECT id FROM words WHERE text = 'token')
       GROUP BY 1, 2, 3, 4
     ) AS counted
     JOIN words AS tenants ON tenants.id = tenant
     JOIN words AS operations ON operations.id = operation
     JOIN words AS outcomes ON outcomes.id = outcome`,
  );

  /**
   * Returns the id of the first entry whose batch comes after `sequence`. If there is no such entry, returns the last
   * id plus one.
   */
  function idAfter(sequence: number, newest: Place): number {
    let [low, high] = [1, newest.id + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const place = from.get(middle) as Place;
      if (place.batch > sequence) high = middle;
      else low = place.id + 1;
    }
    return low;
  }

  return {
    /**
     * Returns the sequence number of the last batch that the next call to `counts` should include. Returns null if the
     * file has no batch after `afterSequence`.
     */
    upTo(afterSequence: number): number | null {
      const newest = last.get() as Place | undefined;
      if (newest === undefined || newest.batch <= afterSequence) return null;
      const first = idAfter(afterSequence, newest);
      const next = from.get(first + entriesMax) as Place | undefined;
      if (next === undefined) return newest.batch;
      const { batch } = from.get(first) as Place;
      return Math.max(batch, next.batch - 1);
    },
    /** Returns the counts for the batches after `afterSequence`, up to and including `upTo`. */
    counts(afterSequence: number, upTo: number): readonly AccessCount[] {
      const newest = last.get() as Place | undefined;
      if (newest === undefined || newest.batch <= afterSequence) return [];
      return counts.all(idAfter(afterSequence, newest), idAfter(upTo, newest)) as AccessCount[];
    },
  };
}
