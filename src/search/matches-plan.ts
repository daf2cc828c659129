import type { PlanNode } from '../ports/search-plan.js';

/** What a plan looks at of one token. */
export type Candidate = {
  readonly terms: ReadonlySet<string>;
  readonly createdAt: number;
  readonly modifiedAt: number | null;
};

/** Whether a plan finds a token that is in no store. */
export function matchesPlan(node: PlanNode, candidate: Candidate): boolean {
  switch (node.is) {
    case 'term':
      return candidate.terms.has(node.term);
    case 'and':
      return node.of.every((part) => matchesPlan(part, candidate));
    case 'or':
      return node.of.some((part) => matchesPlan(part, candidate));
    case 'not':
      return !matchesPlan(node.of, candidate);
    case 'date': {
      const at = node.column === 'created_at' ? candidate.createdAt : candidate.modifiedAt;
      return at !== null && (node.from === null || at >= node.from) && (node.to === null || at < node.to);
    }
  }
}
