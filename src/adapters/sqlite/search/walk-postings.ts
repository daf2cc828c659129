import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { Driver } from '../../search-plan/choose-driver.js';
import type { Found, Wanted } from './found.js';
import type { SearchStatements } from './search-statements.js';

/** The time after which the walk yields the thread to other work. */
const sliceMs = 4;
/** A longer search fails, because its read transaction keeps the write-ahead log from being truncated. */
const patienceMs = 10_000;
/** The number of postings between two checks of the clock, over all terms of the driver. */
const postingsPerStep = 1_024;
const postingsPerStepMin = 16;

/** The requested part of a walk. `before` limits it to tokens with a smaller `seq`. */
type Walk = Wanted & {
  readonly before?: number;
  /** The walk ends when the page is full. Then `total` counts the matches up to there. */
  readonly untilFull?: boolean;
};

/**
 * Walks the postings of a driver from the newest token to the oldest, in steps by `seq`, and passes each step to
 * `match`. Counts every match and keeps those of the page. Throws StoreUnavailable after ten seconds.
 */
export async function walkPostings(
  statements: SearchStatements,
  { terms }: Driver,
  match: (seqs: readonly number[]) => readonly number[],
  { offset, limit, before = Number.MAX_SAFE_INTEGER, untilFull = false }: Walk,
): Promise<Found> {
  const step = Math.max(Math.floor(postingsPerStep / terms.length), postingsPerStepMin);
  const startedAt = performance.now();
  const page: number[] = [];
  let total = 0;
  let sliceAt = startedAt;

  for (let upper = before; upper > 0; ) {
    const lower = lowerEnd(statements, terms, upper, step);
    const matches = match(postingsOf(statements, terms, lower, upper));
    page.push(...matches.slice(Math.max(offset - total, 0)).slice(0, limit - page.length));
    total += matches.length;
    if (untilFull && page.length >= limit) break;
    upper = lower;
    const now = performance.now();
    if (now - startedAt > patienceMs) throw new StoreUnavailable('vault.db', 'search_took_too_long');
    if (now - sliceAt < sliceMs) continue;
    await nextTurn();
    sliceAt = performance.now();
  }
  return { total, page };
}

/** Returns the lower end of a step, in which no term has more than `step` postings. */
function lowerEnd({ nthBefore }: SearchStatements, terms: readonly Buffer[], upper: number, step: number): number {
  let lower = 0;
  for (const term of terms) lower = Math.max(lower, Number(nthBefore.get(term, upper, step - 1) ?? 0));
  return lower;
}

/** Returns the postings newest first, without repeats: a token may have several of the terms. */
function postingsOf({ postings }: SearchStatements, terms: readonly Buffer[], lower: number, upper: number): number[] {
  const found = terms.map((term) => postings.all(term, lower, upper) as number[]);
  const [first = []] = found;
  return found.length === 1 ? first : [...new Set(found.flat())].sort((a, b) => b - a);
}
