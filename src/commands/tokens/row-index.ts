import type { TokenContent } from '../../domain/token/content.js';
import { fingerprintHash } from '../../events/tokens/fingerprint.js';
import type { RowIndex } from '../../ports/unit-of-work.js';
import { type Circumstances, tokenTerms } from '../../search/terms/token-terms.js';
import type { IndexKeys } from '../tenant-keys.js';

/** What the row of a token with this content is found by. */
export function rowIndexOf(
  { tenantKeys, searchKeys }: IndexKeys,
  content: TokenContent,
  circumstances: Circumstances,
): Exclude<RowIndex, 'keep'> {
  return {
    fingerprintHash: fingerprintHash(tenantKeys.claims, content.fingerprint),
    terms: Object.fromEntries(
      searchKeys.map(({ generation, key }) => [generation, tokenTerms(key, content, circumstances)]),
    ),
  };
}
