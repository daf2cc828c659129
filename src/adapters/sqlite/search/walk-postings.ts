import type { Steps } from '../../../domain/steps.js';
import { type IndexView, joinCursors } from '../search-index/index-view.js';

/** The number of tokens in one step. Checking them against one term takes about half a millisecond. */
const tokensOfStep = 256;

/**
 * The result of a search: the total number of tokens found, and the `seq` values of the tokens on the page, newest
 * first.
 */
export type Found = { readonly total: number; readonly page: readonly number[] };

/** The part of a walk that the caller wants. If `before` is set, the walk visits only tokens with a smaller `seq`. */
type Walk = {
  readonly offset: number;
  readonly limit: number;
  readonly before?: number;
  /** If true, the walk ends when the page is full, and `total` counts the matches up to that point. */
  readonly untilFull?: boolean;
};

/**
 * Walks the postings of several terms in steps, from the newest token to the oldest, and calls `match` with the tokens
 * of each step. Counts all matches, and returns the matches on the requested page.
 */
export function* walkPostings(
  index: IndexView,
  terms: readonly Buffer[],
  match: (seqs: readonly number[]) => Steps<readonly number[]>,
  { offset, limit, before = Number.MAX_SAFE_INTEGER, untilFull = false }: Walk,
): Steps<Found> {
  const cursor = joinCursors(terms.map((term) => index.postings(term, before)));
  const page: number[] = [];
  let total = 0;

  while (cursor.head >= 0) {
    const step: number[] = [];
    for (; cursor.head >= 0 && step.length < tokensOfStep; cursor.advance()) step.push(cursor.head);
    const matches = yield* match(step);
    page.push(...matches.slice(Math.max(offset - total, 0)).slice(0, limit - page.length));
    total += matches.length;
    if (untilFull && page.length >= limit) break;
    yield;
  }
  return { total, page };
}
