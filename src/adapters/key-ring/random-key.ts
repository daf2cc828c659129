import { randomBytes } from 'node:crypto';

/** Of every key: AES-256, HMAC-SHA-256. */
export const keyBytes = 32;

export function randomKey(): Buffer {
  return ownBuffer(randomBytes(keyBytes));
}

/**
 * Returns the key in memory of its own, outside of the heap of V8, and zeroes the bytes that were given. Threat: a pool would keep
 * bytes of it, and V8 moves small buffers on its heap without overwriting where they were.
 */
export function ownBuffer(bytes: Buffer): Buffer {
  const own = Buffer.from(new ArrayBuffer(bytes.length));
  bytes.copy(own);
  bytes.fill(0);
  return own;
}
