import type { HeldRows, PageRequest, SearchPage, SearchPlan, WalkStep } from '../../../ports/search-plan.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';
import type { WeighedNode } from '../../search-plan/weighed-plan.js';
import { databaseError } from '../database/database-error.js';
import { approachOf, foundAmong, livingOf } from './approach.js';
import { type Found, foundNothing, type Wanted } from './found.js';
import { amongTerm, matchSeqs } from './match-seqs.js';
import { pageRows, rowsOf } from './page-rows.js';
import type { SearchConnections } from './search-connections.js';
import type { SearchStatements } from './search-statements.js';
import { walkPostings } from './walk-postings.js';

/** Implements `TokenRows.search`: finds and reads the rows of a page as of one instant. */
export function searchRows<H extends object = never>(
  connections: SearchConnections,
  plan: SearchPlan,
  asked: PageRequest & HeldRows<H>,
): Promise<SearchPage<Stored<TokenView> | H>> {
  const { now, offset, limit } = asked;
  return reading(connections, plan, async (statements) => {
    const { total, page } = await findSeqs(statements, plan, { offset, limit }, now);
    return { total, ...pageRows(statements, plan.tenantId, page, asked) };
  });
}

/** Implements `TokenRows.walk`. */
export function walkRows(
  connections: SearchConnections,
  plan: SearchPlan,
  step: WalkStep,
): Promise<readonly Stored<TokenView>[]> {
  return reading(connections, plan, async (statements) =>
    rowsOf(statements, plan.tenantId, await walkSeqs(statements, plan, step)),
  );
}

async function reading<T>(
  connections: SearchConnections,
  { generation }: SearchPlan,
  read: (statements: SearchStatements) => Promise<T>,
): Promise<T> {
  try {
    return await connections.run(generation, read);
  } catch (error) {
    throw databaseError(error, 'vault.db');
  }
}

/** Up to this number of due rows, counting the matches among them costs little. */
const dueFewMax = 1_000;

/**
 * Runs a plan. For a single term, the total is its term count minus its due tokens, and the page is read from the
 * index. Any other plan walks the rarest postings that cover all matches, or a short range of dates.
 */
async function findSeqs(statements: SearchStatements, plan: SearchPlan, wanted: Wanted, now: number): Promise<Found> {
  const approach = approachOf(statements, plan);
  if (approach === null) return foundNothing;
  const { all, node, driver, left } = approach;
  // Usually there are none, because due tokens are swept within a minute.
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
  // A range of dates contains tokens of all tenants.
  const found = living(matchSeqs(statements, node, amongTerm(statements, all, dated)));
  return { total: found.length, page: found.slice(wanted.offset, wanted.offset + wanted.limit) };
}

function pageOfTerm(
  statements: SearchStatements,
  term: Buffer,
  /** Null if nothing is due. */
  now: number | null,
  total: number,
  { offset, limit }: Wanted,
): readonly number[] {
  if (offset >= total) return [];
  const page =
    now === null ? statements.page.all(term, limit, offset) : statements.livingPage.all(term, now, limit, offset);
  return page as number[];
}

/** The number of tokens that one step checks without delaying other work. */
const seqsMax = 2_000;

/**
 * Returns the tokens of all tenants in a short range of dates that contains all matches, newest first. Returns null if
 * no range is short, or if the driver is.
 */
function seqsByDate({ between }: SearchStatements, node: WeighedNode, driverCount: number): readonly number[] | null {
  if (driverCount <= seqsMax) return null;
  const dates = (node.is === 'and' ? node.of : [node]).filter((child) => child.is === 'date');
  for (const { column, from, to } of dates) {
    const range = { from: from ?? Number.MIN_SAFE_INTEGER, to: to ?? Number.MAX_SAFE_INTEGER };
    const seqs = between[column].all({ ...range, limit: seqsMax + 1 }) as number[];
    if (seqs.length <= seqsMax) return seqs.sort((a, b) => b - a);
  }
  return null;
}

/**
 * Returns the `seq` of the tokens of one step, newest first. It continues the walk of a search and stops when it has
 * enough.
 */
async function walkSeqs(
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
