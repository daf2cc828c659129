import type { Db } from 'mongodb';
import type { WeighedNode } from '../../shared/weighed-plan.js';
import { countBy } from '../snapshot-reading.js';
import { rangeOf } from './filter-of.js';
import { rowIndexes } from './token-rows-indexes.js';

export type DateNode = Extract<WeighedNode, { kind: 'date' }>;

/** A date range that contains all matches, and the number of rows that the tenant has in this range. */
export type DateCount = { readonly node: DateNode; readonly count: number };

/** The maximum number of rows that a search can read and sort in one step. */
const shortMax = 2_000;

export const dateIndexes = { created_at: rowIndexes.createdAt, modified_at: rowIndexes.modifiedAt } as const;

/** Returns the plan's date ranges that contain all matches and no more than 2,000 rows each. */
export async function dateCounts(
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
