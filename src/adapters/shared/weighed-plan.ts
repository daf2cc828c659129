import type { PlanNode } from '../../ports/search-plan.js';

/** A plan in which every term occurs in at least one token. `count` is the number of tokens that have the term. */
export type WeighedNode =
  | { readonly kind: 'term'; readonly term: Buffer; readonly count: number }
  | { readonly kind: 'and' | 'or'; readonly of: readonly WeighedNode[] }
  | { readonly kind: 'not'; readonly of: WeighedNode }
  | Extract<PlanNode, { kind: 'date' }>;

/**
 * The result of weighing a plan. It is either one of the constants `every` and `none`, or a tree that contains neither
 * of them.
 */
type Weighed = WeighedNode | 'every' | 'none';

/**
 * Uses the number of tokens that have each term to simplify the plan. A term that no token has matches nothing, and a
 * term that every token has matches everything. Removes the parts of the plan that always match or never match.
 */
export function weigh(node: PlanNode, countOf: (term: Buffer) => number, everyCount: number): Weighed {
  switch (node.kind) {
    case 'term': {
      const term = Buffer.from(node.term, 'hex');
      const count = countOf(term);
      if (count === 0) return 'none';
      return count === everyCount ? 'every' : { kind: 'term', term, count };
    }
    case 'date':
      return node.from !== null && node.to !== null && node.from >= node.to ? 'none' : node;
    case 'not':
      return negate(weigh(node.of, countOf, everyCount));
    case 'and':
    case 'or': {
      const neutral = node.kind === 'and' ? 'every' : 'none';
      const of: WeighedNode[] = [];
      for (const child of node.of) {
        const weighed = weigh(child, countOf, everyCount);
        if (weighed === neutral) continue;
        if (weighed === 'every' || weighed === 'none') return weighed;
        of.push(...(weighed.kind === node.kind ? weighed.of : [weighed]));
      }
      const distinct = withoutRepeats(of);
      const [first] = distinct;
      if (first === undefined) return neutral;
      return distinct.length === 1 ? first : { kind: node.kind, of: distinct };
    }
  }
}

/** Removes duplicate terms on one level of the plan. `chooseDriver` then counts the tokens of each term only once. */
function withoutRepeats(of: readonly WeighedNode[]): readonly WeighedNode[] {
  const seen = new Set<string>();
  return of.filter((node) => {
    if (node.kind !== 'term') return true;
    const term = node.term.toString('latin1');
    if (seen.has(term)) return false;
    seen.add(term);
    return true;
  });
}

function negate(weighed: Weighed): Weighed {
  if (weighed === 'every') return 'none';
  if (weighed === 'none') return 'every';
  return weighed.kind === 'not' ? weighed.of : { kind: 'not', of: weighed };
}
