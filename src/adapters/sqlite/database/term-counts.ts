import type { Statement } from 'better-sqlite3';
import { rowTables, type Slot } from './rows-schema.js';

/**
 * The number of tokens from which on we store the count of a term. For a rarer term we count its postings. Most terms
 * belong to one token (its id, its fingerprint), and a counter for each would cost as much as all postings.
 */
export const keptCountMin = 64;

export function termCountSql(slot: Slot) {
  const { postings, termCounts } = rowTables(slot);
  return {
    kept: `SELECT count FROM ${termCounts} WHERE term = ?`,
    counted: `SELECT count(*) FROM ${postings} WHERE term = ?`,
  } as const;
}

/** Returns how many tokens have a term, from `term_counts` or, for a rare term, from its postings. */
export function termCount(
  { keptCount, countedCount }: { readonly keptCount: Statement; readonly countedCount: Statement },
  term: Buffer,
): number {
  return Number(keptCount.get(term) ?? countedCount.get(term));
}
