import type { Steps } from '../../../domain/steps.js';
import type { WeighedNode } from '../../shared/weighed-plan.js';
import type { IndexView } from '../search-index/index-view.js';
import type { SearchStatements } from './search-statements.js';

/**
 * Returns the tokens in `seqs` that match a plan, in the same order. Stops checking a token as soon as it is certain
 * whether the token matches. Yields before each condition, because a plan can have hundreds of them.
 */
export function* matchSeqs(
  statements: SearchStatements,
  index: IndexView,
  node: WeighedNode,
  seqs: readonly number[],
): Steps<readonly number[]> {
  if (seqs.length === 0) return seqs;
  switch (node.kind) {
    case 'term':
      yield;
      return index.among(node.term, seqs);
    case 'date': {
      yield;
      const { from, to, column } = node;
      const range = { from: from ?? Number.MIN_SAFE_INTEGER, to: to ?? Number.MAX_SAFE_INTEGER };
      return statements.among[column].all({ seqs: JSON.stringify(seqs), ...range }) as number[];
    }
    case 'not':
      return without(seqs, yield* matchSeqs(statements, index, node.of, seqs));
    case 'and': {
      let left = seqs;
      for (const child of rarestFirst(node.of)) left = yield* matchSeqs(statements, index, child, left);
      return left;
    }
    case 'or': {
      let unmatched = seqs;
      for (const child of rarestFirst(node.of).reverse()) {
        unmatched = without(unmatched, yield* matchSeqs(statements, index, child, unmatched));
      }
      return without(seqs, unmatched);
    }
  }
}

function without(seqs: readonly number[], others: readonly number[]): readonly number[] {
  if (others.length === 0) return seqs;
  const taken = new Set(others);
  return seqs.filter((seq) => !taken.has(seq));
}

/**
 * Sorts terms from rarest to most frequent. Rare terms rule out most tokens early, so fewer tokens have to be checked
 * against later parts. Parts that are not terms come last.
 */
function rarestFirst(nodes: readonly WeighedNode[]): WeighedNode[] {
  const weight = (node: WeighedNode): number => (node.kind === 'term' ? node.count : Number.MAX_SAFE_INTEGER);
  return [...nodes].sort((a, b) => weight(a) - weight(b));
}
