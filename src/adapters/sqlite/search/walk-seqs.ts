import type { SearchPlan, WalkStep } from '../../../ports/search-plan.js';
import { approachOf, foundAmong, livingOf } from './approach.js';
import type { SearchStatements } from './search-statements.js';
import { walkPostings } from './walk-postings.js';

/** The `seq` of the tokens of one step, newest first: the walk of a search, begun in the middle and ended when it has enough. */
export async function walkSeqs(
  statements: SearchStatements,
  plan: SearchPlan,
  { now, before, limit }: WalkStep,
): Promise<readonly number[]> {
  const approach = approachOf(statements, plan);
  if (approach === null) return [];
  const due = Number(statements.dueCount.get(now, 1));
  const match = (seqs: readonly number[]) => livingOf(statements, foundAmong(statements, approach, seqs), now, due);
  const wanted = { offset: 0, limit, ...(before === null ? {} : { before }) };
  const { page } = await walkPostings(statements, approach.driver, match, { ...wanted, untilFull: true });
  return page;
}
