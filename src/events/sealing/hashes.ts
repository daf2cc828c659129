import { hash } from 'node:crypto';
import { textOfBytes } from './byte-text.js';

/** Returns SHA-256 of a byte text, as a byte text. */
export function sha256Text(bytes: string): string {
  return hash('sha256', Buffer.from(bytes, 'latin1'), 'binary');
}

/** Returns SHA-256 of a byte text, in memory of its own. */
export function sha256(bytes: string): Buffer {
  return hash('sha256', Buffer.from(bytes, 'latin1'), 'buffer');
}

/** Returns HMAC-SHA-256 of a byte text, in hex. */
export function hmacHex(key: Uint8Array, bytes: string): string {
  const { inner, outer } = padsOf(key);
  return hash('sha256', Buffer.from(outer + sha256Text(inner + bytes), 'latin1'), 'hex');
}

/** Returns HMAC-SHA-256 of the joined bytes, in memory of its own. */
export function hmac(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  const { inner, outer } = padsOf(key);
  const hashed = hash('sha256', Buffer.concat([Buffer.from(inner, 'latin1'), ...parts]), 'binary');
  return sha256(outer + hashed);
}

const blockBytes = 64;

/** The first block of the inner and of the outer hash of HMAC (RFC 2104), as byte texts. */
type Pads = { readonly inner: string; readonly outer: string };

const pads = new WeakMap<Uint8Array, Pads>();

/**
 * HMAC is computed from two hashes, because Node.js creates an object for each `createHmac`, which costs more than both
 * hashes. A key must not be changed after its first use. Keys that are zeroed, which are data keys, hash nothing.
 */
function padsOf(key: Uint8Array): Pads {
  const known = pads.get(key);
  if (known !== undefined) return known;
  const block = Buffer.alloc(blockBytes);
  block.set(key.length > blockBytes ? hash('sha256', key, 'buffer') : key);
  const computed = {
    inner: textOfBytes(block.map((byte) => byte ^ 0x36)),
    outer: textOfBytes(block.map((byte) => byte ^ 0x5c)),
  };
  pads.set(key, computed);
  return computed;
}
