import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { Driver } from './choose-driver.js';
import type { Condition } from './compile-condition.js';
import type { Found, Wanted } from './found.js';
import type { SearchConnection } from './search-connections.js';

/** After so long the thread serves others before the walk goes on. */
const sliceMs = 4;
/** A search that takes longer is refused; meanwhile it keeps the write-ahead log from being cut. */
const patienceMs = 10_000;
/** Look-ups between two looks at the clock: about a millisecond. */
const lookUpsPerStep = 2_048;
const postingsPerStepMin = 64;

/**
 * Walks the postings of a driver from the newest token to the oldest and checks each, in steps by `seq`: every match is
 * counted, those of the page are kept. Throws StoreUnavailable after ten seconds.
 */
export async function walkPostings(
  connection: SearchConnection,
  { terms }: Driver,
  condition: Condition,
  { offset, limit }: Wanted,
): Promise<Found> {
  const marks = terms.map(() => '?').join();
  const source = `FROM postings p WHERE p.term IN (${marks}) AND p.seq >= ? AND p.seq < ? AND ${condition.sql}`;
  // A token may have several of the terms.
  const seq = terms.length > 1 ? 'DISTINCT p.seq' : 'p.seq';
  const matching = connection.column(`SELECT ${seq} ${source} ORDER BY p.seq DESC`);
  const counting = connection.column(`SELECT count(${seq}) ${source}`);
  const nth = connection.column(
    'SELECT seq FROM postings WHERE term = ? AND seq < ? ORDER BY seq DESC LIMIT 1 OFFSET ?',
  );
  const step = Math.max(Math.floor(lookUpsPerStep / (terms.length + condition.values.length)), postingsPerStepMin);
  const startedAt = performance.now();
  const page: number[] = [];
  let total = 0;
  let sliceAt = startedAt;

  /** The lower end of a step: no term has more than `step` postings in it. */
  function lowerEnd(upper: number): number {
    return Math.max(0, ...terms.map((term) => Number(nth.get(term, upper, step - 1) ?? 0)));
  }

  for (let upper = Number.MAX_SAFE_INTEGER; upper > 0; ) {
    const lower = lowerEnd(upper);
    const values = [...terms, lower, upper, ...condition.values];
    if (page.length < limit) {
      const seqs = matching.all(...values) as number[];
      page.push(...seqs.slice(Math.max(offset - total, 0)).slice(0, limit - page.length));
      total += seqs.length;
    } else total += Number(counting.get(...values));
    upper = lower;
    const now = performance.now();
    if (now - startedAt > patienceMs) throw new StoreUnavailable('vault.db', 'search_took_too_long');
    if (now - sliceAt < sliceMs) continue;
    await nextTurn();
    sliceAt = performance.now();
  }
  return { total, page };
}
