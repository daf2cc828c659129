import { hmacHex } from './hashes.js';
import { lengthPrefixedText } from './length-prefixed.js';

/**
 * Returns the HMAC-SHA-256 of a purpose and its parts, in hex. Each is preceded by its length, so that no two inputs
 * collide.
 */
export function keyedHash(key: Uint8Array, purpose: string, ...parts: readonly string[]): string {
  return hmacHex(key, lengthPrefixedText([purpose, ...parts]));
}
