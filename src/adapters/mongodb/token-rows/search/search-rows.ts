import type { Db, FindCursor } from 'mongodb';
import {
  type FoundLife,
  foundLife,
  type PageRequest,
  type SearchPage,
  type SearchPlan,
  type WalkStep,
} from '../../../../ports/search-plan.js';
import type { Stored } from '../../../../projections/row-mac.js';
import type { TokenView } from '../../../../projections/token-view.js';
import { weigh } from '../../../search-plan/weighed-plan.js';
import type { MongoConnection } from '../../connection.js';
import { countBy, readSnapshot, type SnapshotOptions } from '../../snapshot-reading.js';
import { type RowDocument, viewFields, viewOf } from '../row-document.js';
import { rowIndexes } from '../token-rows-indexes.js';
import { chooseWalks, type Walks } from './choose-walks.js';
import { dateCounts } from './date-counts.js';
import { termCounts, termsOf } from './weigh-terms.js';

/** So few due rows that counting the matches among them is nothing. */
const dueFewMax = 1_000;

/** `TokenRows.search`: reads the rows of a page and counts the matches, as of one instant. */
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
        // Threat: a row of another tenant. Its terms are under another key; its tenant is looked at all the same.
        { ...walks.page.filter, tenant: plan.tenantId, ...living(now) },
        { ...options(), hint: walks.page.hint, projection: viewFields },
      )
      .sort({ seq: -1 })
      .skip(offset)
      .limit(limit);
    const { rows, later } = await readPage(found, contentBytesMax);
    const count = rows.length + later.length;
    // A page that is not full is the last one, and says how many there are.
    const isLast = count < limit && (count > 0 || offset === 0);
    const total = isLast ? offset + count : await countMatches(db, rowsName, walks, now, options);
    return { rows, later, total };
  };
  return readSnapshot(connection, 'search_took_too_long', read, limitMs);
}

/** Keeps contents up to a number of bytes; of what follows, what finds the token again. */
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

/** `TokenRows.walk`: the rows of one step, of which each is found by where the one before ended. */
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

/** Tokens that are not due; a row without the time never is. */
function living(now: number) {
  return { expires_at: { $not: { $lte: now } } };
}

/** Null: the plan finds none, whatever there is. */
async function walksOf(db: Db, rowsName: string, plan: SearchPlan, maxTimeMS: number): Promise<Walks | null> {
  const terms = new Set(termsOf(plan.where));
  const node = weigh(plan.where, () => 1, Number.POSITIVE_INFINITY);
  if (node === 'none') return null;
  if (node === 'every' || node.is === 'term') return chooseWalks(plan, node, []);
  const [counts, dates] = await Promise.all([
    termCounts(db, rowsName, terms, maxTimeMS),
    dateCounts(db, rowsName, plan.tenantId, node, maxTimeMS),
  ]);
  const weighed = weigh(plan.where, (term) => counts.get(term.toString('hex')) ?? 1, Number.POSITIVE_INFINITY);
  return weighed === 'none' ? null : chooseWalks(plan, weighed, dates);
}

/**
 * How many living rows match. By the index alone where it can be, less the matches that are due: counting those that
 * are not due would read every row.
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
