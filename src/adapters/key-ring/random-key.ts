import { randomBytes } from 'node:crypto';

/** Of every key: AES-256, HMAC-SHA-256. */
export const keyBytes = 32;

export function randomKey(): Buffer {
  return ownBuffer(randomBytes(keyBytes));
}

/** The key in memory of its own: a pool would keep bytes of it after it was zeroed. Takes the bytes over. */
export function ownBuffer(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  bytes.fill(0);
  return own;
}
