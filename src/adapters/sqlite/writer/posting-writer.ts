import type { SqliteDatabase } from '../open-database.js';
import { rowTables, type Slot } from '../rows-schema.js';
import { keptCountMin } from '../term-counts.js';

/** What a row is found by: the position of the event that created it, and its terms, each once. */
export type Postings = { readonly seq: number | null; readonly terms: readonly Buffer[] };

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

  function add(term: Buffer, seq: number): void {
    insert.run(term, seq);
    if (countUp.run(term).changes === 0 && isCommon.get(term) !== undefined) keepCount.run(term);
  }

  function take(term: Buffer, seq: number): void {
    remove.run(term, seq);
    countDown.run(term);
    dropCount.run(term);
  }

  return {
    /** Replaces what a row was found by. Another `seq` is another life, which shares nothing with the last one. */
    replace(before: Postings, after: Postings): void {
      const had = before.seq === null ? [] : before.terms;
      const has = after.seq === null ? [] : after.terms;
      const goesOn = before.seq === after.seq;
      for (const term of goesOn ? without(had, has) : had) take(term, Number(before.seq));
      for (const term of goesOn ? without(has, had) : has) add(term, Number(after.seq));
    },
  };
}

function without(terms: readonly Buffer[], others: readonly Buffer[]): readonly Buffer[] {
  const left = new Set(others.map((term) => term.toString('hex')));
  return terms.filter((term) => !left.has(term.toString('hex')));
}
