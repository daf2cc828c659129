import type { Steps } from '../../../domain/steps.js';
import type { HeldRows, PageRequest, SearchPage, SearchPlan, WalkStep } from '../../../ports/search-plan.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';
import type { WeighedNode } from '../../shared/weighed-plan.js';
import { databaseError } from '../database/database-error.js';
import type { IndexView } from '../search-index/index-view.js';
import { approachOf } from './approach.js';
import { matchSeqs } from './match-seqs.js';
import { pageRows, rowsOf } from './page-rows.js';
import type { SearchConnections } from './search-connections.js';
import type { RunSteps } from './search-pace.js';
import type { SearchStatements } from './search-statements.js';
import { type Found, walkPostings } from './walk-postings.js';

/** Implements `TokenRows.search`. Finds and reads the rows of a page in the same read transaction. */
export function searchRows<H extends object = never>(
  connections: SearchConnections,
  plan: SearchPlan,
  asked: PageRequest & HeldRows<H>,
): Promise<SearchPage<Stored<TokenView> | H>> {
  return reading(connections, plan, async (statements, index, runSteps) => {
    const { total, page } = await findSeqs(statements, index, runSteps, plan, asked);
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
  { now, offset, limit }: PageRequest,
): Promise<Found> {
  const approach = approachOf(index, plan);
  if (approach === null) return { total: 0, page: [] };
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
    return { total, page: offset >= total ? [] : index.page(term, { offset, limit }, hidden) };
  }
  const dueAt = due.length > 0 ? now : null;
  const dated = node === null ? null : seqsByDate(statements, node, driver.count);
  if (dated === null) {
    const match = (seqs: readonly number[]) => livingMatches(statements, index, left, dueAt, seqs);
    return runSteps(walkPostings(index, driver.terms, match, { offset, limit }));
  }
  // A date range contains tokens from all tenants. This filter removes the other tenants' tokens.
  const found = await runSteps(livingMatches(statements, index, node, dueAt, index.among(all, dated)));
  return { total: found.length, page: found.slice(offset, offset + limit) };
}

/**
 * Returns the tokens in `seqs` that match `node` and are not due at `dueAt`. If `node` is null, there is nothing to
 * match. If `dueAt` is null, none of the tokens is due.
 */
function* livingMatches(
  statements: SearchStatements,
  index: IndexView,
  node: WeighedNode | null,
  dueAt: number | null,
  seqs: readonly number[],
): Steps<readonly number[]> {
  const matches = node === null ? seqs : yield* matchSeqs(statements, index, node, seqs);
  return dueAt === null
    ? matches
    : (statements.amongLiving.all({ seqs: JSON.stringify(matches), now: dueAt }) as number[]);
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
  const dueAt = statements.due.get(now, 1) === undefined ? null : now;
  const match = (seqs: readonly number[]) => livingMatches(statements, index, left, dueAt, seqs);
  const wanted = { offset: 0, limit, before: before ?? Number.MAX_SAFE_INTEGER, untilFull: true };
  const { page } = await runSteps(walkPostings(index, driver.terms, match, wanted));
  return page;
}
