import type { Steps } from '../../../domain/steps.js';
import type { HeldRows, PageRequest, SearchPage, SearchPlan, WalkStep } from '../../../ports/search-plan.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';
import type { WeighedNode } from '../../shared/weighed-plan.js';
import { databaseError } from '../database/database-error.js';
import type { IndexView } from '../search-index/index-view.js';
import { approachOf, foundAmong, livingOf } from './approach.js';
import { type Found, foundNothing, type Wanted } from './found.js';
import { matchSeqs } from './match-seqs.js';
import { pageRows, rowsOf } from './page-rows.js';
import type { SearchConnections } from './search-connections.js';
import type { RunSteps } from './search-pace.js';
import type { SearchStatements } from './search-statements.js';
import { walkPostings } from './walk-postings.js';

/** Implements `TokenRows.search`. Finds and reads the rows of a page in the same read transaction. */
export function searchRows<H extends object = never>(
  connections: SearchConnections,
  plan: SearchPlan,
  asked: PageRequest & HeldRows<H>,
): Promise<SearchPage<Stored<TokenView> | H>> {
  const { now, offset, limit } = asked;
  return reading(connections, plan, async (statements, index, runSteps) => {
    const { total, page } = await findSeqs(statements, index, runSteps, plan, { offset, limit }, now);
    return { total, ...pageRows(statements, plan.tenantId, page, asked) };
  });
}

/** Implements `TokenRows.walk`. */
export function walkRows(
  connections: SearchConnections,
  plan: SearchPlan,
  step: WalkStep,
): Promise<readonly Stored<TokenView>[]> {
  return reading(connections, plan, async (statements, index, runSteps) =>
    rowsOf(statements, plan.tenantId, await walkSeqs(statements, index, runSteps, plan, step)),
  );
}

async function reading<T>(
  connections: SearchConnections,
  plan: SearchPlan,
  read: (statements: SearchStatements, index: IndexView, runSteps: RunSteps) => Promise<T>,
): Promise<T> {
  try {
    return await connections.run(plan, read);
  } catch (error) {
    throw databaseError(error, 'vault.db');
  }
}

/** The maximum number of due rows that can be checked cheaply against a term. */
const dueFewMax = 1_000;

/**
 * Runs a plan. If the plan consists of a single term, the total is the term's count minus its due tokens, and the page
 * is read from the index. For any other plan, this function either walks the smallest set of postings that covers all
 * matches, or checks all tokens in a short date range.
 */
async function findSeqs(
  statements: SearchStatements,
  index: IndexView,
  runSteps: RunSteps,
  plan: SearchPlan,
  wanted: Wanted,
  now: number,
): Promise<Found> {
  const approach = approachOf(index, plan);
  if (approach === null) return foundNothing;
  const { all, node, driver, left } = approach;
  // Usually no tokens are due, because a due token is swept within a minute.
  const due = statements.due.all(now, dueFewMax + 1) as number[];

  const [term, ...others] = driver.terms;
  if (left === null && term !== undefined && others.length === 0 && due.length <= dueFewMax) {
    const hidden =
      due.length === 0
        ? due
        : index.among(
            term,
            due.toSorted((a, b) => b - a),
          );
    const total = Math.max(driver.count - hidden.length, 0);
    return { total, page: wanted.offset >= total ? [] : index.page(term, wanted, hidden) };
  }
  const living = (seqs: readonly number[]): readonly number[] => livingOf(statements, seqs, now, due.length > 0);
  function* match(seqs: readonly number[]): Steps<readonly number[]> {
    return living(yield* foundAmong(statements, index, left, seqs));
  }
  const dated = node === null ? null : seqsByDate(statements, node, driver.count);
  if (dated === null || node === null) {
    return runSteps(walkPostings(index, driver, match, wanted));
  }
  // A date range contains tokens from all tenants. This filter removes the other tenants' tokens.
  const found = living(await runSteps(matchSeqs(statements, index, node, index.among(all, dated))));
  return { total: found.length, page: found.slice(wanted.offset, wanted.offset + wanted.limit) };
}

/** The maximum number of tokens that can be checked in one step without delaying other work. */
const seqsMax = 2_000;

/**
 * If the plan contains a short date range that covers all matches, returns the tokens in this range, newest first. The
 * tokens can belong to any tenant. Returns null if no date range is short, or if the search's driver has so few
 * postings that no date range is needed.
 */
function seqsByDate({ between }: SearchStatements, node: WeighedNode, driverCount: number): readonly number[] | null {
  if (driverCount <= seqsMax) return null;
  const dates = (node.kind === 'and' ? node.of : [node]).filter((child) => child.kind === 'date');
  for (const { column, from, to } of dates) {
    const range = { from: from ?? Number.MIN_SAFE_INTEGER, to: to ?? Number.MAX_SAFE_INTEGER };
    const seqs = between[column].all({ ...range, limit: seqsMax + 1 }) as number[];
    if (seqs.length <= seqsMax) return seqs.sort((a, b) => b - a);
  }
  return null;
}

/**
 * Performs one step of a walk, and returns the `seq` values of the matching tokens, newest first. A step continues
 * where the previous step ended. It ends when it has found `limit` tokens or there are no more tokens.
 */
async function walkSeqs(
  statements: SearchStatements,
  index: IndexView,
  runSteps: RunSteps,
  plan: SearchPlan,
  { now, before, limit }: WalkStep,
): Promise<readonly number[]> {
  const approach = approachOf(index, plan);
  if (approach === null) return [];
  const { driver, left } = approach;
  const isAnyDue = statements.due.get(now, 1) !== undefined;
  function* match(seqs: readonly number[]): Steps<readonly number[]> {
    return livingOf(statements, yield* foundAmong(statements, index, left, seqs), now, isAnyDue);
  }
  const wanted = { offset: 0, limit, ...(before === null ? {} : { before }) };
  const { page } = await runSteps(walkPostings(index, driver, match, { ...wanted, untilFull: true }));
  return page;
}
