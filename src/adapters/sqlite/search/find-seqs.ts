import type { SearchPlan } from '../../../ports/search-plan.js';
import { termCount, termCountSql } from '../term-counts.js';
import { chooseDriver, type Driver, residue } from './choose-driver.js';
import { type Condition, compileCondition } from './compile-condition.js';
import { countDue, countDueWith, notDue } from './due-rows.js';
import { type Found, foundNothing, type Wanted } from './found.js';
import type { SearchConnection } from './search-connections.js';
import { checkSeqs, seqsByDate } from './seqs-by-date.js';
import { walkPostings } from './walk-postings.js';
import { weigh } from './weighed-plan.js';

/**
 * Answers a plan on one connection. A single term is counted by its term count and its page is read off the index;
 * anything else walks the rarest postings that meet every match.
 */
export async function findSeqs(
  connection: SearchConnection,
  plan: SearchPlan,
  wanted: Wanted,
  now: number,
): Promise<Found> {
  const [kept, counted] = [connection.column(termCountSql.kept), connection.column(termCountSql.counted)];
  const countOf = (term: Buffer): number => termCount(kept, counted, term);
  const all = Buffer.from(plan.all, 'hex');
  const everyCount = countOf(all);
  const weighed = weigh(plan.where, countOf, everyCount);
  if (weighed === 'none' || everyCount === 0) return foundNothing;
  const everything: Driver = { terms: [all], count: everyCount, exactly: null };
  const driver = (weighed === 'every' ? null : chooseDriver(weighed)) ?? everything;
  const left = weighed === 'every' ? null : residue(weighed, driver);
  const due = countDue(connection, now);
  const living = due === 'none' ? [] : [notDue(now)];

  const [term, ...others] = driver.terms;
  if (left === null && due !== 'many' && term !== undefined && others.length === 0) {
    const total = driver.count - (due === 'none' ? 0 : countDueWith(connection, term, now));
    return { total, page: pageOfTerm(connection, term, living, total, wanted) };
  }
  const condition = allOf([...(left === null ? [] : [compileCondition(left)]), ...living]);
  const dated = weighed === 'every' ? null : seqsByDate(connection, weighed, driver.count);
  if (dated === null) return walkPostings(connection, driver, condition, wanted);
  return checkSeqs(connection, dated, driver, condition, wanted);
}

function pageOfTerm(
  connection: SearchConnection,
  term: Buffer,
  living: readonly Condition[],
  total: number,
  { offset, limit }: Wanted,
): readonly number[] {
  if (offset >= total) return [];
  const { sql, values } = allOf(living);
  const page = connection.column(
    `SELECT p.seq FROM postings p WHERE p.term = ? AND ${sql} ORDER BY p.seq DESC LIMIT ? OFFSET ?`,
  );
  return page.all(term, ...values, limit, offset) as number[];
}

function allOf(conditions: readonly Condition[]): Condition {
  if (conditions.length === 0) return { sql: 'TRUE', values: [] };
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  };
}
