import type { Json } from '../json.js';
import type { TokenType } from './types/token-type.js';

/**
 * Everything of a token that a person put in, except the cvc, which lives in a box of its own. This is what an event
 * seals, whole, and what a row carries. Absent fields are null. See docs/contract.md, "The token object".
 */
export type TokenContent = {
  readonly id: string;
  readonly type: TokenType;
  /** Card data never holds `cvc` here. */
  readonly data: Json;
  /** null: the token has no mask and a masked read redacts it. */
  readonly mask: Json;
  readonly containers: readonly string[];
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly search_indexes: readonly string[] | null;
  readonly fingerprint_expression: string;
  /** base58 of HMAC-SHA-256 under the tenant's fingerprint key over type and evaluated value. */
  readonly fingerprint: string;
};
