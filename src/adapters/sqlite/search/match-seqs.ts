import type { WeighedNode } from '../../search-plan/weighed-plan.js';
import type { SearchStatements } from './search-statements.js';

/**
 * Returns the tokens of `seqs` that match a plan, in the given order. Looks up each token for each deciding part of the
 * plan.
 */
export function matchSeqs(statements: SearchStatements, node: WeighedNode, seqs: readonly number[]): readonly number[] {
  if (seqs.length === 0) return seqs;
  switch (node.is) {
    case 'term':
      return amongTerm(statements, node.term, seqs);
    case 'date': {
      const { from, to, column } = node;
      const range = { from: from ?? Number.MIN_SAFE_INTEGER, to: to ?? Number.MAX_SAFE_INTEGER };
      return statements.among[column].all({ seqs: JSON.stringify(seqs), ...range }) as number[];
    }
    case 'not':
      return without(seqs, matchSeqs(statements, node.of, seqs));
    case 'and':
      return rarestFirst(node.of).reduce((left, child) => matchSeqs(statements, child, left), seqs);
    case 'or': {
      const unmatched = rarestFirst(node.of)
        .reverse()
        .reduce((left, child) => without(left, matchSeqs(statements, child, left)), seqs);
      return without(seqs, unmatched);
    }
  }
}

/** Returns the tokens of `seqs` that have a term. */
export function amongTerm(statements: SearchStatements, term: Buffer, seqs: readonly number[]): readonly number[] {
  return statements.amongTerm.all({ seqs: JSON.stringify(seqs), term }) as number[];
}

function without(seqs: readonly number[], others: readonly number[]): readonly number[] {
  if (others.length === 0) return seqs;
  const taken = new Set(others);
  return seqs.filter((seq) => !taken.has(seq));
}

/** Puts the rarest terms first, so that later parts have fewer tokens to check, and parts other than terms last. */
function rarestFirst(nodes: readonly WeighedNode[]): WeighedNode[] {
  const weight = (node: WeighedNode): number => (node.is === 'term' ? node.count : Number.MAX_SAFE_INTEGER);
  return [...nodes].sort((a, b) => weight(a) - weight(b));
}
