import { createHmac } from 'node:crypto';
import { lengthPrefixed } from './length-prefixed.js';

/** Returns HMAC-SHA-256 over a purpose and its parts, each preceded by its length, so that purposes never collide. */
export function keyedHash(key: Uint8Array, purpose: string, ...parts: readonly string[]): Buffer {
  return createHmac('sha256', key)
    .update(lengthPrefixed([purpose, ...parts]))
    .digest();
}
