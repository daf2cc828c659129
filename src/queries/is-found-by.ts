import { deriveAgain } from '../domain/token/derive-content.js';
import type { TokenLife } from '../domain/token/token-state.js';
import type { SearchTermKey } from '../keys/key-ring.js';
import type { SearchPlan } from '../ports/search-plan.js';
import { matchesPlan } from '../search/plan-search.js';
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
