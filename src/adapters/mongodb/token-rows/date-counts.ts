import type { Db } from 'mongodb';
import type { WeighedNode } from '../../search-plan/weighed-plan.js';
import { countBy } from '../snapshot-reading.js';
import { rangeOf } from './filter-of.js';
import { rowIndexes } from './token-rows-indexes.js';

export type DateNode = Extract<WeighedNode, { is: 'date' }>;

/** A range of dates that every match lies in, and how many rows of the tenant do. */
export type DateCount = { readonly node: DateNode; readonly count: number };

/** As many rows are read and put in order in one go. */
const shortMax = 2_000;

export const dateIndexes = { created_at: rowIndexes.createdAt, modified_at: rowIndexes.modifiedAt } as const;

/** The short ranges of dates that every match lies in: those of at most 2,000 rows. */
export async function dateCounts(
  db: Db,
  rowsName: string,
  tenantId: string,
  node: WeighedNode,
  maxTimeMS: number,
): Promise<readonly DateCount[]> {
  const dates = (node.is === 'and' ? node.of : [node]).filter((child) => child.is === 'date');
  const counted = dates.map(async (date) => {
    const options = { hint: dateIndexes[date.column], limit: shortMax + 1, maxTimeMS };
    const count = await countBy(db, rowsName, { tenant: tenantId, [date.column]: rangeOf(date) }, options);
    return { node: date, count };
  });
  return (await Promise.all(counted)).filter(({ count }) => count <= shortMax);
}
