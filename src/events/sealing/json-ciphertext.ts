import type { Json } from '../../domain/json.js';
import { type CiphertextPlace, openCiphertext, sealCiphertext } from './ciphertext.js';

const blockBytes = 64;
const space = 0x20;

/** Encrypts a JSON value, padded as in `paddedJson`. */
export function sealJson(key: Uint8Array, value: unknown, place: CiphertextPlace): Buffer {
  const padded = paddedJson(value);
  const box = sealCiphertext(key, padded, place);
  padded.fill(0);
  return box;
}

/**
 * Returns a JSON value as text that is padded with spaces, which JSON ignores, to a multiple of 64 bytes, so that the
 * length of its ciphertext reveals little about the value.
 */
export function paddedJson(value: unknown): Buffer {
  const text = JSON.stringify(value);
  const length = Buffer.byteLength(text);
  const padded = Buffer.allocUnsafeSlow(Math.ceil(length / blockBytes) * blockBytes);
  padded.write(text);
  padded.fill(space, length);
  return padded;
}

/** Decrypts the result of `sealJson`; undefined if the ciphertext is damaged, moved or under another key. */
export function openJson(key: Uint8Array, box: Uint8Array, place: CiphertextPlace): Json | undefined {
  const plain = openCiphertext(key, box, place);
  if (plain === null) return undefined;
  const value = JSON.parse(plain.toString('utf8')) as Json;
  plain.fill(0);
  return value;
}
