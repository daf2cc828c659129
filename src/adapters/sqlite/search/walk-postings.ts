import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { Driver } from '../../shared/choose-driver.js';
import { type IndexView, joinCursors } from '../search-index/index-view.js';
import type { Found, Wanted } from './found.js';

/** After this time (in ms), a walk lets other work run on the thread. */
const sliceMs = 4;
/**
 * The time limit for a search, in ms. The limit is needed because the write-ahead log cannot be truncated while a
 * search has a read transaction open.
 */
const patienceMs = 10_000;
/** The number of tokens in one step. The walk checks the clock after each step. */
const tokensOfStep = 1_024;

/** The part of a walk that the caller wants. If `before` is set, the walk visits only tokens with a smaller `seq`. */
type Walk = Wanted & {
  readonly before?: number;
  /** If true, the walk ends when the page is full, and `total` counts the matches up to that point. */
  readonly untilFull?: boolean;
};

/**
 * Walks the postings of a driver in steps, from the newest token to the oldest, and calls `match` with the tokens of
 * each step. Counts all matches, and returns the matches on the requested page. Throws StoreUnavailable after ten
 * seconds.
 */
export async function walkPostings(
  index: IndexView,
  { terms }: Driver,
  match: (seqs: readonly number[]) => readonly number[],
  { offset, limit, before = Number.MAX_SAFE_INTEGER, untilFull = false }: Walk,
): Promise<Found> {
  const cursor = joinCursors(terms.map((term) => index.postings(term, before)));
  const startedAt = performance.now();
  const page: number[] = [];
  let total = 0;
  let sliceAt = startedAt;

  while (cursor.head >= 0) {
    const step: number[] = [];
    for (; cursor.head >= 0 && step.length < tokensOfStep; cursor.advance()) step.push(cursor.head);
    const matches = match(step);
    page.push(...matches.slice(Math.max(offset - total, 0)).slice(0, limit - page.length));
    total += matches.length;
    if (untilFull && page.length >= limit) break;
    const now = performance.now();
    if (now - startedAt > patienceMs) throw new StoreUnavailable('vault.db', 'search_took_too_long');
    if (now - sliceAt < sliceMs) continue;
    await nextTurn();
    sliceAt = performance.now();
  }
  return { total, page };
}
