import type { Reach } from '../domain/access/reach.js';
import type { SearchKey } from '../ports/key-ring.js';
import type { PlanNode, SearchPlan } from '../ports/search-plan.js';
import type { Query } from './query/syntax-tree.js';
import { type Findable, termOf } from './terms/term.js';

/** Every token, and none. */
const everything: PlanNode = { is: 'and', of: [] };

/**
 * The plan of a query over keyed terms, narrowed to the containers that the caller may search, so that totals count
 * what it may see and nothing else (contract, section 2).
 */
export function planSearch(
  { generation, key: searchKey }: SearchKey,
  tenantId: string,
  query: Query,
  reach: Reach,
): SearchPlan {
  const term = (what: Findable): PlanNode => ({ is: 'term', term: termOf(searchKey, what) });
  const within = (path: string): PlanNode => (path === '/' ? everything : term({ by: 'within', value: path }));

  function plan(node: Query): PlanNode {
    switch (node.is) {
      case 'everything':
        return everything;
      case 'and':
      case 'or':
        return { is: node.is, of: node.of.map(plan) };
      case 'not':
        return { is: 'not', of: plan(node.of) };
      case 'text':
        return term({ by: node.field, value: node.value });
      case 'metadata':
        return term({ by: 'metadata', key: node.key, value: node.value });
      case 'container':
        return node.within ? within(node.path) : term({ by: 'container', value: node.path });
      case 'date':
        return { is: 'date', column: node.field, from: node.from, to: node.to };
    }
  }

  const allowed: PlanNode = reach === 'everything' ? everything : { is: 'or', of: reach.map(within) };
  return {
    tenantId,
    generation,
    all: termOf(searchKey, { by: 'all' }),
    where: { is: 'and', of: [allowed, plan(query)] },
  };
}
