import type { TokenContent } from '../../domain/token/content.js';
import { fingerprintHash } from '../../events/tokens/fingerprint.js';
import type { TenantKeys } from '../../ports/key-ring.js';
import type { RowIndex } from '../../ports/unit-of-work.js';
import { type Circumstances, tokenTerms } from '../../search/terms/token-terms.js';

/** The keys that what a row is found by is hashed with. */
export type IndexKeys = { readonly tenantKeys: TenantKeys; readonly searchKey: Buffer };

/** What the row of a token with this content is found by. */
export function rowIndexOf(
  { tenantKeys, searchKey }: IndexKeys,
  content: TokenContent,
  circumstances: Circumstances,
): Exclude<RowIndex, 'keep'> {
  return {
    fingerprintHash: fingerprintHash(tenantKeys.claims, content.fingerprint),
    terms: tokenTerms(searchKey, content, circumstances),
  };
}
