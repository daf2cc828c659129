import type { WeighedNode } from '../../search-plan/weighed-plan.js';
import type { SearchStatements } from './search-statements.js';

/** As many tokens are looked at in one go without holding anything up. */
const seqsMax = 2_000;

/**
 * The tokens in a short range of dates that every match lies in, of any tenant, newest first; null when no range is
 * short, or when the driver is.
 */
export function seqsByDate(
  { between }: SearchStatements,
  node: WeighedNode,
  driverCount: number,
): readonly number[] | null {
  if (driverCount <= seqsMax) return null;
  const dates = (node.is === 'and' ? node.of : [node]).filter((child) => child.is === 'date');
  for (const { column, from, to } of dates) {
    const range = { from: from ?? Number.MIN_SAFE_INTEGER, to: to ?? Number.MAX_SAFE_INTEGER };
    const seqs = between[column].all({ ...range, limit: seqsMax + 1 }) as number[];
    if (seqs.length <= seqsMax) return seqs.sort((a, b) => b - a);
  }
  return null;
}
