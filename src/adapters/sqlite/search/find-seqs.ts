import type { SearchPlan } from '../../../ports/search-plan.js';
import { approachOf, foundAmong, livingOf } from './approach.js';
import { type Found, foundNothing, type Wanted } from './found.js';
import { amongTerm, matchSeqs } from './match-seqs.js';
import type { SearchStatements } from './search-statements.js';
import { seqsByDate } from './seqs-by-date.js';
import { walkPostings } from './walk-postings.js';

/** So few due rows that counting the matches among them is nothing. */
const dueFewMax = 1_000;

/**
 * Answers a plan. A single term is counted by its term count, less the due tokens that have it, and its page is read
 * off the index; anything else walks the rarest postings that meet every match, or a short range of dates.
 */
export async function findSeqs(
  statements: SearchStatements,
  plan: SearchPlan,
  wanted: Wanted,
  now: number,
): Promise<Found> {
  const approach = approachOf(statements, plan);
  if (approach === null) return foundNothing;
  const { all, node, driver, left } = approach;
  // Mostly none: what is due is swept within a minute.
  const due = Number(statements.dueCount.get(now, dueFewMax + 1));

  const [term, ...others] = driver.terms;
  if (left === null && term !== undefined && others.length === 0 && due <= dueFewMax) {
    const total = driver.count - (due === 0 ? 0 : Number(statements.dueWithTerm.get(now, term)));
    return { total, page: pageOfTerm(statements, term, due === 0 ? null : now, total, wanted) };
  }
  const living = (seqs: readonly number[]): readonly number[] => livingOf(statements, seqs, now, due);
  const dated = node === null ? null : seqsByDate(statements, node, driver.count);
  if (dated === null || node === null) {
    const match = (seqs: readonly number[]) => living(foundAmong(statements, approach, seqs));
    return walkPostings(statements, driver, match, wanted);
  }
  // A range of dates is of all tenants.
  const found = living(matchSeqs(statements, node, amongTerm(statements, all, dated)));
  return { total: found.length, page: found.slice(wanted.offset, wanted.offset + wanted.limit) };
}

function pageOfTerm(
  statements: SearchStatements,
  term: Buffer,
  /** Null: nothing is due. */
  now: number | null,
  total: number,
  { offset, limit }: Wanted,
): readonly number[] {
  if (offset >= total) return [];
  const page =
    now === null ? statements.page.all(term, limit, offset) : statements.livingPage.all(term, now, limit, offset);
  return page as number[];
}
