import type { TokenContent } from '../domain/token/content.js';
import type { SearchTermKey } from '../keys/key-ring.js';
import type { RowIndex } from '../ports/unit-of-work.js';
import { type Circumstances, tokenTerms } from '../search/terms.js';

/**
 * Returns the index entries of a token's row: the search terms for each generation, and the keyed hash of the
 * fingerprint.
 */
export function rowIndexOf(
  keys: readonly SearchTermKey[],
  fingerprintHash: string,
  content: TokenContent,
  circumstances: Circumstances,
): Exclude<RowIndex, 'keep'> {
  const terms = keys.map(({ generation, key }) => [generation, tokenTerms(key, content, circumstances)]);
  return { fingerprintHash, terms: Object.fromEntries(terms) };
}
