import { hmacHex } from './hashes.js';
import { lengthPrefixedText } from './length-prefixed.js';

/**
 * Returns the HMAC-SHA-256 of a purpose and a list of parts, in hex. The purpose and each part are preceded by their
 * lengths, so that different inputs never produce the same bytes.
 */
export function keyedHash(key: Uint8Array, purpose: string, ...parts: readonly string[]): string {
  return hmacHex(key, lengthPrefixedText([purpose, ...parts]));
}
