import { randomBytes } from 'node:crypto';

/** The length of every key (AES-256, HMAC-SHA-256). */
export const keyBytes = 32;

export function randomKey(): Buffer {
  return ownBuffer(randomBytes(keyBytes));
}

/**
 * Returns the key in separate memory outside of the V8 heap, and zeroes `bytes`. Threat: an attacker who reads the
 * memory finds remains of keys, because a pool keeps bytes, and V8 moves small buffers on its heap without overwriting
 * the old place.
 */
export function ownBuffer(bytes: Buffer): Buffer {
  const own = Buffer.from(new ArrayBuffer(bytes.length));
  bytes.copy(own);
  bytes.fill(0);
  return own;
}
