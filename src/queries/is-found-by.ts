import { deriveAgain } from '../domain/token/derive-content.js';
import type { TokenLife } from '../domain/token/token-state.js';
import type { SearchTermKey } from '../keys/key-ring.js';
import type { PlanNode, SearchPlan } from '../ports/search-plan.js';
import { tokenTerms } from '../search/terms.js';
import type { OpenToken } from '../vault/open-token.js';
import { unwrap } from '../vault/unwrap.js';
import type { Vault } from '../vault/vault.js';

/**
 * Returns true if a token matches a search plan. The plan must have been made with this search key. Reads no stores.
 */
export function isFoundBy(
  { expressions }: Pick<Vault, 'expressions'>,
  { key }: SearchTermKey,
  { where }: SearchPlan,
  { open, life }: { readonly open: OpenToken; readonly life: TokenLife },
): boolean {
  const content = unwrap(open.content);
  const { indexValues } = deriveAgain(expressions, content);
  const { createdBy, modifiedBy, createdAt, modifiedAt } = life;
  const circumstances = { createdBy, modifiedBy, indexValues };
  return matchesPlan(where, { terms: new Set(tokenTerms(key, content, circumstances)), createdAt, modifiedAt });
}

/** The parts of a token that a plan can match. */
type Candidate = {
  readonly terms: ReadonlySet<string>;
  readonly createdAt: number;
  readonly modifiedAt: number | null;
};

/** Returns true if a node of a plan matches a token. */
function matchesPlan(node: PlanNode, candidate: Candidate): boolean {
  switch (node.kind) {
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
