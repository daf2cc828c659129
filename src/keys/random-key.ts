import { randomBytes } from 'node:crypto';

/** The length of all keys in bytes. AES-256 and HMAC-SHA-256 both use keys of this length. */
export const keyBytes = 32;

export function randomKey(): Buffer {
  return ownBuffer(randomBytes(keyBytes));
}

/**
 * Copies a key to a dedicated buffer outside the V8 heap, and zeroes `bytes`. Threat: an attacker who can read the
 * memory of the process finds remnants of keys. Node's buffer pool keeps old bytes, and V8 moves small buffers within
 * its heap without overwriting the old location.
 */
export function ownBuffer(bytes: Buffer): Buffer {
  const own = Buffer.from(new ArrayBuffer(bytes.length));
  bytes.copy(own);
  bytes.fill(0);
  return own;
}
