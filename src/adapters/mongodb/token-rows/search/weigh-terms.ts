import type { Db } from 'mongodb';
import type { PlanNode } from '../../../../ports/search-plan.js';
import { countBy } from '../../snapshot-reading.js';
import { rowIndexes } from '../token-rows-indexes.js';

/** Nobody counts further: among terms of so many rows none is rare. */
const countMax = 1_000;

/**
 * How many rows have each term of a plan, up to a thousand, by the term in hex. They only say where to begin: they are
 * not as of the instant of the search, and nothing that it finds rests on them.
 */
export async function termCounts(
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

/** Every term of a plan, in hex. */
export function termsOf(node: PlanNode): readonly string[] {
  if (node.is === 'term') return [node.term];
  if (node.is === 'not') return termsOf(node.of);
  return node.is === 'date' ? [] : node.of.flatMap(termsOf);
}
