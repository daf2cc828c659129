import type { SearchPlan } from '../../../ports/search-plan.js';
import { chooseDriver, type Driver, residue } from '../../shared/choose-driver.js';
import { type WeighedNode, weigh } from '../../shared/weighed-plan.js';
import type { IndexView } from '../search-index/index-view.js';

/**
 * Describes how a plan is executed: which postings the search walks, and which conditions it must still check for each
 * token.
 */
type Approach = {
  /** The term that all of the tenant's tokens have. */
  readonly all: Buffer;
  /** The whole plan with the count of each term, or null if the plan matches every token. */
  readonly node: WeighedNode | null;
  readonly driver: Driver;
  /** The part of the plan that must be checked for each token, or null if there is nothing to check. */
  readonly left: WeighedNode | null;
};

/** Returns the approach for a plan, or null if the plan matches nothing. */
export function approachOf(index: IndexView, plan: SearchPlan): Approach | null {
  const countOf = (term: Buffer): number => index.count(term);
  const all = Buffer.from(plan.all, 'hex');
  const everyCount = countOf(all);
  const weighed = weigh(plan.where, countOf, everyCount);
  if (weighed === 'none' || everyCount === 0) return null;
  const everything: Driver = { terms: [all], count: everyCount, exactly: null };
  const node = weighed === 'every' ? null : weighed;
  const driver = (node === null ? null : chooseDriver(node)) ?? everything;
  return { all, node, driver, left: node === null ? null : residue(node, driver.exactly) };
}
