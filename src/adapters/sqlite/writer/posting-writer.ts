import type { SqliteDatabase } from '../open-database.js';
import { rowTables, type Slot } from '../rows-schema.js';
import { keptCountMin } from '../term-counts.js';

/** What a row is found by: the position of the event that created it, and its terms in hex. */
export type Postings = { readonly seq: number | null; readonly terms: readonly string[] };

/** Keeps postings and term counts in step with the rows, inside the transaction that writes the row. */
export function createPostingWriter(database: SqliteDatabase, slot: Slot) {
  const { postings, termCounts } = rowTables(slot);
  const insert = database.prepare(`INSERT INTO ${postings} (term, seq) VALUES (?, ?)`);
  const remove = database.prepare(`DELETE FROM ${postings} WHERE term = ? AND seq = ?`);
  const countUp = database.prepare(`UPDATE ${termCounts} SET count = count + 1 WHERE term = ?`);
  const isCommon = database.prepare(`SELECT 1 FROM ${postings} WHERE term = ? LIMIT 1 OFFSET ${keptCountMin - 1}`);
  const keepCount = database.prepare(
    `INSERT INTO ${termCounts} (term, count) SELECT term, count(*) FROM ${postings} WHERE term = ?`,
  );
  const countDown = database.prepare(`UPDATE ${termCounts} SET count = count - 1 WHERE term = ?`);
  const dropCount = database.prepare(`DELETE FROM ${termCounts} WHERE term = ? AND count = 0`);

  function add(terms: Iterable<string>, seq: number): void {
    for (const term of terms) {
      const bytes = Buffer.from(term, 'hex');
      insert.run(bytes, seq);
      if (countUp.run(bytes).changes === 0 && isCommon.get(bytes) !== undefined) keepCount.run(bytes);
    }
  }

  function take(terms: Iterable<string>, seq: number): void {
    for (const term of terms) {
      const bytes = Buffer.from(term, 'hex');
      remove.run(bytes, seq);
      countDown.run(bytes);
      dropCount.run(bytes);
    }
  }

  return {
    /** Replaces what a row was found by. Another `seq` is another life, which shares nothing with the last one. */
    replace(before: Postings, after: Postings): void {
      const had = new Set(before.terms);
      const has = new Set(after.terms);
      const kept = before.seq === after.seq ? new Set(before.terms.filter((term) => has.has(term))) : new Set<string>();
      if (before.seq !== null) take(without(had, kept), before.seq);
      if (after.seq !== null) add(without(has, kept), after.seq);
    },
  };
}

function without(terms: ReadonlySet<string>, kept: ReadonlySet<string>): readonly string[] {
  return [...terms].filter((term) => !kept.has(term));
}
