import type { Json } from '../json.js';
import type { TokenType } from './types/token-type.js';

/**
 * The fields of a token that are encrypted together. The cvc is not among them, because it is encrypted separately. An
 * event contains the content as one ciphertext. A row contains a copy of that ciphertext, or refers to the event (ADR
 * 65). Absent fields are null. See docs/contract.md, "The token object".
 */
export type TokenContent = {
  readonly id: string;
  readonly type: TokenType;
  /** Card data in this field never contains `cvc`. */
  readonly data: Json;
  /** Null means that the token has no mask, so a masked read redacts the data. */
  readonly mask: Json;
  readonly containers: readonly string[];
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly search_indexes: readonly string[] | null;
  readonly fingerprint_expression: string;
  /** The HMAC-SHA-256 of the token type and the fingerprinted value, under the tenant's fingerprint key, in base58. */
  readonly fingerprint: string;
};
