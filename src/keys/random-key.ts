import { randomBytes } from 'node:crypto';

/** The length of every key in bytes, for AES-256 and HMAC-SHA-256. */
export const keyBytes = 32;

export function randomKey(): Buffer {
  return ownBuffer(randomBytes(keyBytes));
}

/**
 * Copies a key to a dedicated buffer outside the V8 heap, and zeroes `bytes`. Threat: an attacker who can read the
 * process's memory finds remnants of keys. Node's buffer pool retains bytes, and V8 moves small buffers on its heap
 * without overwriting the old location.
 */
export function ownBuffer(bytes: Buffer): Buffer {
  const own = Buffer.from(new ArrayBuffer(bytes.length));
  bytes.copy(own);
  bytes.fill(0);
  return own;
}
