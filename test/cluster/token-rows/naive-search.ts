import type { PageRequest, PlanNode, SearchPlan } from '#src/ports/search-plan.js';
import type { SampleRow } from './a-row.js';

/** Examines every row, and returns the rows that a search must find. */
export function naiveSearch(rows: readonly SampleRow[], plan: SearchPlan, { now, offset, limit }: PageRequest) {
  const found = rows
    .filter(({ tenantId, expiresAt }) => tenantId === plan.tenantId && (expiresAt === null || expiresAt > now))
    .filter((row) => matches(plan.where, row))
    .sort((a, b) => b.seq - a.seq);
  return { total: found.length, streams: found.slice(offset, offset + limit).map(({ stream }) => stream) };
}

function matches(node: PlanNode, row: SampleRow): boolean {
  switch (node.kind) {
    case 'term':
      return row.terms.includes(node.term);
    case 'and':
      return node.of.every((child) => matches(child, row));
    case 'or':
      return node.of.some((child) => matches(child, row));
    case 'not':
      return !matches(node.of, row);
    case 'date': {
      const at = node.column === 'created_at' ? row.createdAt : row.modifiedAt;
      return at !== null && at >= (node.from ?? -Infinity) && at < (node.to ?? Infinity);
    }
  }
}
