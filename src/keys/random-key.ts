import { randomBytes } from 'node:crypto';

/** The length of every key, for AES-256 or HMAC-SHA-256. */
export const keyBytes = 32;

export function randomKey(): Buffer {
  return ownBuffer(randomBytes(keyBytes));
}

/**
 * Returns the key in its own memory outside the V8 heap, and zeroes `bytes`. Threat: an attacker who reads the
 * process's memory finds remnants of keys. Node's buffer pool retains bytes, and V8 moves small buffers on its heap
 * without overwriting the old location.
 */
export function ownBuffer(bytes: Buffer): Buffer {
  const own = Buffer.from(new ArrayBuffer(bytes.length));
  bytes.copy(own);
  bytes.fill(0);
  return own;
}
