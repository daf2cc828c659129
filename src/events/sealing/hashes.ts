import { createHash, hash } from 'node:crypto';
import { bytesOfText } from './byte-text.js';

/** Returns the SHA-256 hash of a byte string (`textOfBytes`) as a byte string. */
export function sha256Text(bytes: string): string {
  return hash('sha256', Buffer.from(bytes, 'latin1'), 'binary');
}

/** Returns the SHA-256 hash of a byte string in a dedicated buffer. */
export function sha256(bytes: string): Buffer {
  return bytesOfText(sha256Text(bytes));
}

/** Returns the HMAC-SHA-256 of a byte string in hex. */
export function hmacHex(key: Uint8Array, bytes: string): string {
  return hash('sha256', outerMessage(key, [bytes]), 'hex');
}

/** Returns the HMAC-SHA-256 of the concatenated parts in a dedicated buffer. */
export function hmac(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  return bytesOfText(hash('sha256', outerMessage(key, parts), 'binary'));
}

const blockBytes = 64;
const hashBytes = 32;

/** The first blocks of the inner and outer hashes of HMAC (RFC 2104). */
type Pads = { readonly inner: Buffer; readonly outer: Buffer };

const padsOfKeys = new WeakMap<Uint8Array, Pads>();

/**
 * Threat: an attacker who reads the process's memory finds remnants of keys (`keys/random-key.ts`). Pads are therefore
 * kept outside the V8 heap, and every message begins at the same address, so that each message overwrites the previous
 * one.
 */
const message = Buffer.allocUnsafeSlow(16 * 1024);
const outer = Buffer.allocUnsafeSlow(blockBytes + hashBytes);

/**
 * Returns the message for HMAC's outer hash. The returned buffer is valid only until the next call. The HMAC is
 * computed from two plain hashes. `createHmac` would create an object on every call, which takes longer than both
 * hashes.
 */
function outerMessage(key: Uint8Array, parts: readonly (string | Uint8Array)[]): Buffer {
  const pads = padsOf(key);
  outer.set(pads.outer);
  outer.write(innerHash(pads, parts), blockBytes, 'latin1');
  return outer;
}

/** Returns HMAC's inner hash as a byte string. Long parts are hashed one after another instead of being copied. */
function innerHash(pads: Pads, parts: readonly (string | Uint8Array)[]): string {
  const size = parts.reduce((sum, { length }) => sum + length, blockBytes);
  if (size > message.length) {
    const long = createHash('sha256').update(pads.inner);
    for (const part of parts) {
      if (typeof part === 'string') long.update(part, 'latin1');
      else long.update(part);
    }
    return long.digest('binary');
  }
  message.set(pads.inner);
  let at = blockBytes;
  for (const part of parts) {
    if (typeof part === 'string') message.write(part, at, 'latin1');
    else message.set(part, at);
    at += part.length;
  }
  const inner = hash('sha256', message.subarray(0, size), 'binary');
  message.fill(0, 0, blockBytes);
  return inner;
}

/**
 * Returns the cached pads of a key. A key must not change after its first use here. Some keys are zeroed after use, but
 * none of them is used with this function.
 */
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
