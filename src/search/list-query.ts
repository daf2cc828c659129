import type { Query } from './query/syntax-tree.js';
import { normalise } from './terms/normalise.js';

/** Filters of a list: the tokens that have one of the ids, one of the types and every metadata entry. */
export type ListFilters = {
  /** null: any. */
  readonly ids: readonly string[] | null;
  readonly types: readonly string[] | null;
  /** In the order given. */
  readonly metadata: readonly (readonly [key: string, value: string])[];
};

/** List filters as the tree that a search would be (specification, "List Tokens"; contract, section 7). */
export function listQuery({ ids, types, metadata }: ListFilters): Query {
  const filters = [
    ...(ids === null ? [] : [anyOf('id', ids)]),
    ...(types === null ? [] : [anyOf('type', types)]),
    ...firstOfEach(metadata).map(([key, value]) => ({ is: 'metadata', key, value }) as const),
  ];
  const [first] = filters;
  if (first === undefined) return { is: 'everything' };
  return filters.length === 1 ? first : { is: 'and', of: filters };
}

function anyOf(field: 'id' | 'type', values: readonly string[]): Query {
  return { is: 'or', of: values.map((value) => ({ is: 'text', field, value })) };
}

/** A repeated key is ignored beyond the first; keys are compared as in search. */
function firstOfEach(metadata: ListFilters['metadata']): ListFilters['metadata'] {
  const byKey = new Map<string, readonly [string, string]>();
  for (const entry of metadata) {
    const key = normalise(entry[0]);
    if (!byKey.has(key)) byKey.set(key, entry);
  }
  return [...byKey.values()];
}
