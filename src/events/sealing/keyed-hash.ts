import { hmacHex } from './hashes.js';
import { lengthPrefixedText } from './length-prefixed.js';

/** Returns HMAC-SHA-256 over a purpose and its parts in hex, each preceded by its length, so that purposes never collide. */
export function keyedHash(key: Uint8Array, purpose: string, ...parts: readonly string[]): string {
  return hmacHex(key, lengthPrefixedText([purpose, ...parts]));
}
