import type { Json } from '../json.js';
import type { TokenType } from './types/token-type.js';

/**
 * All fields of a token that callers supply, except the cvc, which has a ciphertext of its own. An event encrypts it as
 * a whole, and a row carries that ciphertext. Absent fields are null. See docs/contract.md, "The token object".
 */
export type TokenContent = {
  readonly id: string;
  readonly type: TokenType;
  /** Card data never holds `cvc` here. */
  readonly data: Json;
  /** Null: the token has no mask, so a masked read redacts it. */
  readonly mask: Json;
  readonly containers: readonly string[];
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly search_indexes: readonly string[] | null;
  readonly fingerprint_expression: string;
  /** base58 of HMAC-SHA-256 under the tenant's fingerprint key over type and evaluated value. */
  readonly fingerprint: string;
};
