import type { Json } from '../../domain/json.js';
import { type CiphertextPlace, openCiphertext, sealCiphertext } from './ciphertext.js';

const blockBytes = 64;
const spaces = ' '.repeat(blockBytes);

/** Encrypts a JSON value, padded by `paddedJson`. */
export function sealJson(key: Uint8Array, value: unknown, place: CiphertextPlace): Buffer {
  return sealCiphertext(key, paddedJson(value), place);
}

/**
 * Returns a JSON value as text, padded with spaces to a multiple of 64 bytes, so that the length of the ciphertext
 * reveals little about the value. JSON parsers ignore the spaces.
 */
export function paddedJson(value: unknown): string {
  const text = JSON.stringify(value);
  const over = Buffer.byteLength(text) % blockBytes;
  return over === 0 ? text : text + spaces.slice(over);
}

/**
 * Decrypts the result of `sealJson`. Returns undefined if the ciphertext is damaged, was sealed for a different place,
 * or was encrypted under a different key.
 */
export function openJson(key: Uint8Array, ciphertext: Uint8Array, place: CiphertextPlace): Json | undefined {
  const plain = openCiphertext(key, ciphertext, place);
  if (plain === null) return undefined;
  const value = JSON.parse(plain.toString('utf8')) as Json;
  plain.fill(0);
  return value;
}
