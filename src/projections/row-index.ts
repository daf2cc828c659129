import type { TokenContent } from '../domain/token/content.js';
import type { SearchKey } from '../ports/key-ring.js';
import type { RowIndex } from '../ports/unit-of-work.js';
import { type Circumstances, tokenTerms } from '../search/terms.js';

/** What the row of a token with this content is found by; `fingerprintHash` is that of its fingerprint. */
export function rowIndexOf(
  keys: readonly SearchKey[],
  fingerprintHash: string,
  content: TokenContent,
  circumstances: Circumstances,
): Exclude<RowIndex, 'keep'> {
  const terms = keys.map(({ generation, key }) => [generation, tokenTerms(key, content, circumstances)]);
  return { fingerprintHash, terms: Object.fromEntries(terms) };
}
