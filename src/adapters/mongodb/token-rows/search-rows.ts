import type { Db, Document, FindCursor } from 'mongodb';
import {
  type FoundLife,
  foundLife,
  type PageRequest,
  type PlanNode,
  type SearchPage,
  type SearchPlan,
  type WalkStep,
} from '../../../ports/search-plan.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';
import { chooseDriver, type Driver, residue } from '../../shared/choose-driver.js';
import { type WeighedNode, weigh } from '../../shared/weighed-plan.js';
import type { MongoConnection } from '../connection.js';
import { countBy, readSnapshot, type SnapshotOptions } from '../snapshot-reading.js';
import { type RowDocument, viewFields, viewOf } from './row-document.js';
import { rowIndexes } from './token-rows-indexes.js';

/** Up to this number of due rows, it is cheap to count how many of them match. */
const dueFewMax = 1_000;

/** Implements `TokenRows.search`. Reads the rows of a page and counts the matches in the same snapshot. */
export function searchRows(
  connection: MongoConnection,
  rowsName: string,
  plan: SearchPlan,
  page: PageRequest,
  limitMs?: number,
): Promise<SearchPage> {
  const read = async (db: Db, options: () => SnapshotOptions): Promise<SearchPage> => {
    const walks = await walksOf(db, rowsName, plan, options().maxTimeMS);
    if (walks === null) return { total: 0, rows: [], later: [] };
    const { now, offset, limit, contentBytesMax } = page;
    const found = db
      .collection<RowDocument>(rowsName)
      .find(
        // Threat: a search finds another tenant's row. Each tenant hashes its terms under a different key, so a search
        // cannot match such a row. Checking the tenant in the filter is a second line of defense.
        { ...walks.page.filter, tenant: plan.tenantId, ...living(now) },
        { ...options(), hint: walks.page.hint, projection: viewFields },
      )
      .sort({ seq: -1 })
      .skip(offset)
      .limit(limit);
    const { rows, later } = await readPage(found, contentBytesMax);
    const count = rows.length + later.length;
    // A page that is not full is the last page. Its length and offset already determine the total, so no count is
    // needed.
    const isLast = count < limit && (count > 0 || offset === 0);
    const total = isLast ? offset + count : await countMatches(db, rowsName, walks, now, options);
    return { rows, later, total };
  };
  return readSnapshot(connection, 'search_took_too_long', read, limitMs);
}

/**
 * Reads a page. Returns the contents of rows until their total size exceeds `contentBytesMax`. For each remaining row,
 * returns only the fields needed to find the token again.
 */
async function readPage(found: FindCursor<RowDocument>, contentBytesMax?: number): Promise<Omit<SearchPage, 'total'>> {
  if (contentBytesMax === undefined) return { rows: (await found.toArray()).map(viewOf), later: [] };
  const rows: Stored<TokenView>[] = [];
  const later: FoundLife[] = [];
  let bytes = 0;
  for await (const document of found) {
    const view = viewOf(document);
    bytes += view.content?.length ?? 0;
    if (rows.length === 0 || bytes <= contentBytesMax) rows.push(view);
    else later.push(foundLife(view));
  }
  return { rows, later };
}

/** Implements `TokenRows.walk`. Each step continues where the previous step ended. */
export function walkRows(
  connection: MongoConnection,
  rowsName: string,
  plan: SearchPlan,
  { now, before, limit }: WalkStep,
  limitMs?: number,
): Promise<readonly Stored<TokenView>[]> {
  const read = async (db: Db, options: () => SnapshotOptions): Promise<readonly Stored<TokenView>[]> => {
    const walks = await walksOf(db, rowsName, plan, options().maxTimeMS);
    if (walks === null) return [];
    const after = before === null ? {} : { seq: { $lt: before } };
    const found = await db
      .collection<RowDocument>(rowsName)
      .find(
        { $and: [walks.page.filter, after], tenant: plan.tenantId, ...living(now) },
        { ...options(), hint: walks.page.hint, projection: viewFields },
      )
      .sort({ seq: -1 })
      .limit(limit)
      .toArray();
    return found.map(viewOf);
  };
  return readSnapshot(connection, 'search_took_too_long', read, limitMs);
}

/** Returns the filter for tokens that have not expired. A row without an expiry time also matches. */
function living(now: number) {
  return { expires_at: { $not: { $lte: now } } };
}

/** Returns the index scans for a plan, or null if the plan cannot match any row. */
async function walksOf(db: Db, rowsName: string, plan: SearchPlan, maxTimeMS: number): Promise<Walks | null> {
  const terms = new Set(termsOf(plan.where));
  const node = weigh(plan.where, () => 1, Number.POSITIVE_INFINITY);
  if (node === 'none') return null;
  if (node === 'every' || node.kind === 'term') return chooseWalks(plan, node, []);
  const [counts, dates] = await Promise.all([
    termCounts(db, rowsName, terms, maxTimeMS),
    dateCounts(db, rowsName, plan.tenantId, node, maxTimeMS),
  ]);
  const weighed = weigh(plan.where, (term) => counts.get(term.toString('hex')) ?? 1, Number.POSITIVE_INFINITY);
  return weighed === 'none' ? null : chooseWalks(plan, weighed, dates);
}

/**
 * Counts the live rows that match. If possible, reads only the index: counts all matches, and then subtracts the
 * matches that are due. Counting the rows that are not due would require reading each row.
 */
async function countMatches(
  db: Db,
  rowsName: string,
  { count, checked }: Walks,
  now: number,
  options: () => SnapshotOptions,
): Promise<number> {
  const due = { expires_at: { $lte: now } };
  const byDue = () => ({ ...options(), hint: rowIndexes.expiresAt });
  const [dueCount, all] = await Promise.all([
    countBy(db, rowsName, due, { ...byDue(), limit: dueFewMax + 1 }),
    countBy(db, rowsName, count.filter, { ...options(), hint: count.hint }),
  ]);
  if (dueCount > dueFewMax) {
    return countBy(db, rowsName, { ...count.filter, ...living(now) }, { ...options(), hint: count.hint });
  }
  return dueCount === 0 ? all : all - (await countBy(db, rowsName, { ...checked, ...due }, byDue()));
}

/** A filter, and the index that a query with this filter must use. */
type Walk = { readonly filter: Document; readonly hint: string };

type Walks = {
  /** A scan that either returns the rows in list order or returns few enough rows for the server to sort. */
  readonly page: Walk;
  readonly count: Walk;
  /** The whole plan as a filter that works with any index. */
  readonly checked: Document;
};

/**
 * Returns the cheapest index scans that cover all matches. A scan reads either the rarest terms or one of the short
 * date ranges in `short`. The remaining conditions of the plan are checked on each row.
 */
function chooseWalks(plan: SearchPlan, node: WeighedNode | 'every', short: readonly DateCount[]): Walks {
  const everything: Driver = { terms: [Buffer.from(plan.all, 'hex')], count: Number.POSITIVE_INFINITY, exactly: null };
  if (node === 'every') return alike(alongTerms(everything, null), { tenant: plan.tenantId });
  const checked = { tenant: plan.tenantId, ...checkedOn(node) };
  const driver = chooseDriver(node) ?? everything;
  const [shortest] = [...short].sort((a, b) => a.count - b.count);
  if (shortest !== undefined && shortest.count < driver.count) {
    return alike(alongDates(plan.tenantId, shortest.node, residue(node, shortest.node)), checked);
  }
  const page = alongTerms(driver, residue(node, driver.exactly));
  // If the plan consists only of a date range, the index on that date is the fastest way to count, even if the range is
  // long.
  return node.kind === 'date' ? { page, count: alongDates(plan.tenantId, node, null), checked } : alike(page, checked);
}

function alike(walk: Walk, checked: Document): Walks {
  return { page: walk, count: walk, checked };
}

function alongTerms({ terms }: Driver, left: WeighedNode | null): Walk {
  const [term, ...others] = terms;
  return {
    filter: { terms: others.length === 0 ? term : { $in: terms }, ...checkedOn(left) },
    hint: rowIndexes.terms,
  };
}

function alongDates(tenant: string, date: DateNode, left: WeighedNode | null): Walk {
  return { filter: { tenant, [date.column]: rangeOf(date), ...checkedOn(left) }, hint: dateIndexes[date.column] };
}

/** A term's rows are counted only up to this number. A term with this many rows is not rare. */
const countMax = 1_000;

/**
 * Returns the number of rows that have each term, up to 1,000. The terms are in hex. A search uses these counts only to
 * choose an index scan. The counts do not affect its results, so they do not have to be read from the search's
 * snapshot.
 */
async function termCounts(
  db: Db,
  rowsName: string,
  terms: ReadonlySet<string>,
  maxTimeMS: number,
): Promise<ReadonlyMap<string, number>> {
  const options = { hint: rowIndexes.terms, limit: countMax, maxTimeMS };
  const counted = [...terms].map(async (term) => {
    const count = await countBy(db, rowsName, { terms: Buffer.from(term, 'hex') }, options);
    return [term, Math.max(count, 1)] as const;
  });
  return new Map(await Promise.all(counted));
}

/** Returns all terms in a plan, in hex. */
function termsOf(node: PlanNode): readonly string[] {
  if (node.kind === 'term') return [node.term];
  if (node.kind === 'not') return termsOf(node.of);
  return node.kind === 'date' ? [] : node.of.flatMap(termsOf);
}

type DateNode = Extract<WeighedNode, { kind: 'date' }>;

/** A date range that contains all matches, and the number of rows that the tenant has in this range. */
type DateCount = { readonly node: DateNode; readonly count: number };

/** The maximum number of rows that a search can read and sort in one step. */
const shortMax = 2_000;

const dateIndexes = { created_at: rowIndexes.createdAt, modified_at: rowIndexes.modifiedAt } as const;

/** Returns the plan's date ranges that contain all matches and no more than 2,000 rows each. */
async function dateCounts(
  db: Db,
  rowsName: string,
  tenantId: string,
  node: WeighedNode,
  maxTimeMS: number,
): Promise<readonly DateCount[]> {
  const dates = (node.kind === 'and' ? node.of : [node]).filter((child) => child.kind === 'date');
  const counted = dates.map(async (date) => {
    const options = { hint: dateIndexes[date.column], limit: shortMax + 1, maxTimeMS };
    const count = await countBy(db, rowsName, { tenant: tenantId, [date.column]: rangeOf(date) }, options);
    return { node: date, count };
  });
  return (await Promise.all(counted)).filter(({ count }) => count <= shortMax);
}

/** Returns a filter that matches exactly the rows matched by the node. */
function filterOf(node: WeighedNode): Document {
  switch (node.kind) {
    case 'term':
      return { terms: node.term };
    case 'date':
      return { [node.column]: rangeOf(node) };
    case 'not':
      return { $nor: [filterOf(node.of)] };
    case 'and':
      return { $and: node.of.map(filterOf) };
    case 'or':
      return { $or: node.of.map(filterOf) };
  }
}

/**
 * Returns the filter for a date range. A range without a start begins at the smallest number, so that a row without the
 * date never matches.
 */
function rangeOf({ from, to }: DateNode): Document {
  return { $gte: from ?? Number.MIN_SAFE_INTEGER, ...(to === null ? {} : { $lt: to }) };
}

/**
 * Returns a filter that the server evaluates for each row without using an index. MongoDB does not use indexes for
 * conditions under `$nor`. A search therefore has only one possible query plan, which uses the index and the terms that
 * the vault has chosen.
 */
function checkedOn(node: WeighedNode | null): Document {
  return node === null ? {} : { $nor: [{ $nor: [filterOf(node)] }] };
}
