import type { SqliteDatabase } from '../open-database.js';
import { rowTables, type Slot } from '../rows-schema.js';

/** So few that a commit of them holds nobody up. */
const rowsMax = 200;
const postingsMax = 2_000;

/**
 * Removes what is in a set of tables, some of it at each call; true: nothing is left. Emptying a table as a whole comes
 * last: it overwrites the page that stays, where parts of records may lie that were moved (`secure_delete`).
 */
export function createEmptySlot(database: SqliteDatabase, slot: Slot): () => boolean {
  const { rows, postings, termCounts, tokenCounts } = rowTables(slot);
  const bound = database.prepare(`SELECT term, seq FROM ${postings} ORDER BY term, seq LIMIT 1 OFFSET ${postingsMax}`);
  const removePostings = database.prepare(`DELETE FROM ${postings} WHERE (term, seq) < (@term, @seq)`);
  const removeRows = database.prepare(`DELETE FROM ${rows} WHERE row IN (SELECT row FROM ${rows} LIMIT ${rowsMax})`);
  const clear = [postings, rows, termCounts, tokenCounts].map((table) => database.prepare(`DELETE FROM ${table}`));

  return () => {
    const next = bound.get();
    if (next !== undefined) {
      removePostings.run(next);
      return false;
    }
    if (removeRows.run().changes === rowsMax) return false;
    for (const all of clear) all.run();
    return true;
  };
}
