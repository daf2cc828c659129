import fc from 'fast-check';
import { dateFields, type Query, textFields } from '#src/search/query/syntax-tree.js';

/** Generators for the values in a query's terms. */
export type Pools = {
  readonly text: (field: (typeof textFields)[number]) => fc.Arbitrary<string>;
  readonly metadata: fc.Arbitrary<{ readonly key: string; readonly value: string }>;
  readonly path: fc.Arbitrary<string>;
  readonly instant: fc.Arbitrary<number | null>;
};

function leaf({ text, metadata, path, instant }: Pools): fc.Arbitrary<Query> {
  return fc.oneof(
    fc
      .constantFrom(...textFields)
      .chain((field) => text(field).map((value): Query => ({ kind: 'text', field, value }))),
    metadata.map(({ key, value }): Query => ({ kind: 'metadata', key, value })),
    fc.record({ path, within: fc.boolean() }).map((container): Query => ({ kind: 'container', ...container })),
    fc
      .record({ field: fc.constantFrom(...dateFields), from: instant, to: instant })
      .map((date): Query => ({ kind: 'date', ...date })),
  );
}

/**
 * Returns a generator for the trees that a query can express. `and` and `or` have at least two operands. The number of
 * terms and the depth are limited.
 */
export function queries(pools: Pools): fc.Arbitrary<Query> {
  const { tree } = fc.letrec<{ tree: Query }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      { weight: 3, arbitrary: leaf(pools) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('not' as const), of: tie('tree') }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constantFrom('and' as const, 'or' as const),
          of: fc.array(tie('tree'), { minLength: 2, maxLength: 3 }),
        }),
      },
    ),
  }));
  return tree;
}

/** Returns the number of terms in a tree. A query may contain at most 64 terms. */
export function termCount(query: Query): number {
  if (query.kind === 'and' || query.kind === 'or') return query.of.reduce((sum, child) => sum + termCount(child), 0);
  return query.kind === 'not' ? termCount(query.of) : 1;
}
