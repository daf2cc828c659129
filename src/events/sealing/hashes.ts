import { hash } from 'node:crypto';

/** Returns SHA-256 of a byte text (`textOfBytes`), as a byte text. */
export function sha256Text(bytes: string): string {
  return hash('sha256', Buffer.from(bytes, 'latin1'), 'binary');
}

/** Returns SHA-256 of a byte text, in memory of its own. */
export function sha256(bytes: string): Buffer {
  return hash('sha256', Buffer.from(bytes, 'latin1'), 'buffer');
}

/** Returns HMAC-SHA-256 of a byte text, in hex. */
export function hmacHex(key: Uint8Array, bytes: string): string {
  return hash('sha256', outerMessage(key, [bytes]), 'hex');
}

/** Returns HMAC-SHA-256 of the joined bytes, in memory of its own. */
export function hmac(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  return hash('sha256', outerMessage(key, parts), 'buffer');
}

const blockBytes = 64;
const hashBytes = 32;

/** The first block of the inner and of the outer hash of HMAC (RFC 2104). */
type Pads = { readonly inner: Buffer; readonly outer: Buffer };

const padsOfKeys = new WeakMap<Uint8Array, Pads>();

/**
 * Threat: an attacker who reads the memory finds remains of keys (`keys/random-key.ts`). So pads are in memory outside
 * of the V8 heap, and each message begins in the same place, where the next one overwrites it.
 */
const message = Buffer.allocUnsafeSlow(16 * 1024);
const outer = Buffer.allocUnsafeSlow(blockBytes + hashBytes);

/**
 * HMAC is computed from two hashes, because Node.js creates an object for each `createHmac`, which costs more than both
 * hashes. Returns the input of the second one, which is valid until the next call.
 */
function outerMessage(key: Uint8Array, parts: readonly (string | Uint8Array)[]): Buffer {
  const pads = padsOf(key);
  const size = parts.reduce((sum, { length }) => sum + length, blockBytes);
  const inner = size <= message.length ? message : Buffer.allocUnsafeSlow(size);
  inner.set(pads.inner);
  let at = blockBytes;
  for (const part of parts) {
    if (typeof part === 'string') inner.write(part, at, 'latin1');
    else inner.set(part, at);
    at += part.length;
  }
  outer.set(pads.outer);
  outer.write(hash('sha256', inner.subarray(0, size), 'binary'), blockBytes, 'latin1');
  inner.fill(0, 0, blockBytes);
  return outer;
}

/** A key must not change after its first use. Keys that are zeroed, which are data keys, hash nothing. */
function padsOf(key: Uint8Array): Pads {
  const known = padsOfKeys.get(key);
  if (known !== undefined) return known;
  const block = key.length > blockBytes ? hash('sha256', key, 'buffer') : key;
  const pads = { inner: padOf(block, 0x36), outer: padOf(block, 0x5c) };
  padsOfKeys.set(key, pads);
  return pads;
}

function padOf(block: Uint8Array, byte: number): Buffer {
  const pad = Buffer.allocUnsafeSlow(blockBytes).fill(byte);
  for (const [at, part] of block.entries()) pad[at] = part ^ byte;
  return pad;
}
