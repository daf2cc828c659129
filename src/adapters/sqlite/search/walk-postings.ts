import type { Steps } from '../../../domain/steps.js';
import type { Driver } from '../../shared/choose-driver.js';
import { type IndexView, joinCursors } from '../search-index/index-view.js';
import type { Found, Wanted } from './found.js';

/** The number of tokens in one step. Checking them against one term takes about half a millisecond. */
const tokensOfStep = 256;

/** The part of a walk that the caller wants. If `before` is set, the walk visits only tokens with a smaller `seq`. */
type Walk = Wanted & {
  readonly before?: number;
  /** If true, the walk ends when the page is full, and `total` counts the matches up to that point. */
  readonly untilFull?: boolean;
};

/**
 * Walks the postings of a driver in steps, from the newest token to the oldest, and calls `match` with the tokens of
 * each step. Counts all matches, and returns the matches on the requested page.
 */
export function* walkPostings(
  index: IndexView,
  { terms }: Driver,
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
