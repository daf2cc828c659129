import type { Reach } from '../domain/access/reach.js';
import type { SearchTermKey } from '../keys/key-ring.js';
import type { PlanNode, SearchPlan } from '../ports/search-plan.js';
import type { Query } from './query/syntax-tree.js';
import { type Findable, termFor } from './terms.js';

/** The plan that matches every token. */
const everything: PlanNode = { kind: 'and', of: [] };

/**
 * Returns the search plan for a query. The plan consists of keyed terms. It matches only tokens in containers that the
 * caller may search, so that totals count only tokens that the caller may see (docs/contract.md, "Pagination").
 */
export function planSearch(
  { generation, key: searchKey }: SearchTermKey,
  tenantId: string,
  query: Query,
  reach: Reach,
): SearchPlan {
  const term = (what: Findable): PlanNode => ({ kind: 'term', term: termFor(searchKey, what) });
  const within = (path: string): PlanNode => (path === '/' ? everything : term({ kind: 'within', value: path }));

  function plan(node: Query): PlanNode {
    switch (node.kind) {
      case 'everything':
        return everything;
      case 'and':
      case 'or':
        return { kind: node.kind, of: node.of.map(plan) };
      case 'not':
        return { kind: 'not', of: plan(node.of) };
      case 'text':
        return term({ kind: node.field, value: node.value });
      case 'metadata':
        return term({ kind: 'metadata', key: node.key, value: node.value });
      case 'container':
        return node.within ? within(node.path) : term({ kind: 'container', value: node.path });
      case 'date':
        return { kind: 'date', column: node.field, from: node.from, to: node.to };
    }
  }

  const allowed: PlanNode = reach === 'everything' ? everything : { kind: 'or', of: reach.map(within) };
  return {
    tenantId,
    generation,
    all: termFor(searchKey, { kind: 'all' }),
    where: { kind: 'and', of: [allowed, plan(query)] },
  };
}

type MetadataFilter = readonly [key: string, value: string];

/**
 * The filters of a list request. They match tokens that have one of the ids, one of the types, and all of the metadata
 * entries.
 */
export type ListFilters = {
  /** A container path that ends in `/`. Null or absent means any container. */
  readonly container?: string | null;
  /** Null or absent means any fingerprint. */
  readonly fingerprint?: string | null;
  /** Null means any id. In `types`, null means any type. */
  readonly ids: readonly string[] | null;
  readonly types: readonly string[] | null;
  /** The metadata entries. Each of them is a filter of its own, even if several have the same key. */
  readonly metadata: readonly MetadataFilter[];
};

/**
 * Returns the syntax tree for the filters of a list request (docs/contract.md, "List tokens" and "Comparison"). It does
 * not depend on the order of the metadata filters, because a cursor belongs to the tree.
 */
export function listQuery({ ids, types, metadata, container = null, fingerprint = null }: ListFilters): Query {
  const filters: Query[] = [
    ...(ids === null ? [] : [anyOf('id', ids)]),
    ...(types === null ? [] : [anyOf('type', types)]),
    ...(container === null ? [] : [{ kind: 'container', path: container, within: false } as const]),
    ...(fingerprint === null ? [] : [{ kind: 'text', field: 'fingerprint', value: fingerprint } as const]),
    ...metadata.toSorted(inOrder).map(([key, value]) => ({ kind: 'metadata', key, value }) as const),
  ];
  const [first] = filters;
  if (first === undefined) return { kind: 'everything' };
  return filters.length === 1 ? first : { kind: 'and', of: filters };
}

/** Compares the JSON texts, because two filters can have the same text without quotes: `a=b,c` and `a,b=c`. */
function inOrder(one: MetadataFilter, other: MetadataFilter): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}

function anyOf(field: 'id' | 'type', values: readonly string[]): Query {
  return { kind: 'or', of: values.map((value) => ({ kind: 'text', field, value })) };
}
