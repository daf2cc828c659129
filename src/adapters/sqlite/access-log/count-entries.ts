import type { AccessCount } from '../../../ports/access-log.js';
import type { SqliteDatabase } from '../database/open-database.js';

/** The approximate number of entries to count in one call. Counting them takes this thread a few milliseconds. */
const entriesMax = 5_000;

type Place = { readonly id: number; readonly batch: number };

/**
 * Counts the entries in one month's file. Entries are only appended, so an entry with a higher id is in the same batch
 * or a later one. The entries of some batches can therefore be found without reading the others.
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
   * Returns the id of the first entry whose batch comes after `sequence`. If there is no such batch, returns one more
   * than the last id.
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
    /** Returns the last batch to count in the next call, or null if there is no batch after the sequence number. */
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
