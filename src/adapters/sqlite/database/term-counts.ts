import type { Statement } from 'better-sqlite3';
import { rowTables, type Slot } from './rows-schema.js';

/**
 * From so many tokens on the count of a term is kept; those of a rarer one are counted where they stand. Most terms are
 * of one token (its id, its fingerprint), and a counter of each would cost as much as all postings.
 */
export const keptCountMin = 64;

export function termCountSql(slot: Slot) {
  const { postings, termCounts } = rowTables(slot);
  return {
    kept: `SELECT count FROM ${termCounts} WHERE term = ?`,
    counted: `SELECT count(*) FROM ${postings} WHERE term = ?`,
  } as const;
}

/** How many tokens have a term, by `term_counts` or, when it is too rare for that, by its postings. */
export function termCount(
  { keptCount, countedCount }: { readonly keptCount: Statement; readonly countedCount: Statement },
  term: Buffer,
): number {
  return Number(keptCount.get(term) ?? countedCount.get(term));
}
