import type { SearchPlan } from '../../../ports/search-plan.js';
import { chooseDriver, type Driver, residue } from '../../search-plan/choose-driver.js';
import { type WeighedNode, weigh } from '../../search-plan/weighed-plan.js';
import { termCount } from '../database/term-counts.js';
import { matchSeqs } from './match-seqs.js';
import type { SearchStatements } from './search-statements.js';

/** How a plan is answered: what is walked, and what is left to check of each token on the way. */
export type Approach = {
  /** The term of every token of the tenant. */
  readonly all: Buffer;
  /** The whole plan, weighed; null: it finds every token. */
  readonly node: WeighedNode | null;
  readonly driver: Driver;
  /** Null: nothing is left to check. */
  readonly left: WeighedNode | null;
};

/** Null: the plan finds nothing. */
export function approachOf(statements: SearchStatements, plan: SearchPlan): Approach | null {
  const countOf = (term: Buffer): number => termCount(statements, term);
  const all = Buffer.from(plan.all, 'hex');
  const everyCount = countOf(all);
  const weighed = weigh(plan.where, countOf, everyCount);
  if (weighed === 'none' || everyCount === 0) return null;
  const everything: Driver = { terms: [all], count: everyCount, exactly: null };
  const node = weighed === 'every' ? null : weighed;
  const driver = (node === null ? null : chooseDriver(node)) ?? everything;
  return { all, node, driver, left: node === null ? null : residue(node, driver) };
}

/** Those of some tokens that live at `now`; `due` is how many tokens are due then. */
export function livingOf(
  { amongLiving }: SearchStatements,
  seqs: readonly number[],
  now: number,
  due: number,
): readonly number[] {
  return due === 0 ? seqs : (amongLiving.all({ seqs: JSON.stringify(seqs), now }) as number[]);
}

/** Those of some tokens met on the walk that the plan finds. */
export function foundAmong(
  statements: SearchStatements,
  { left }: Approach,
  seqs: readonly number[],
): readonly number[] {
  return left === null ? seqs : matchSeqs(statements, left, seqs);
}
