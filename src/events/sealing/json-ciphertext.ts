import type { Json } from '../../domain/json.js';
import { type CiphertextPlace, openCiphertext, sealCiphertext } from './ciphertext.js';

const blockBytes = 64;
const spaces = ' '.repeat(blockBytes);

/**
 * Encrypts a JSON value. The text is padded with spaces, which JSON ignores, to a multiple of 64 bytes, so that the
 * length of the ciphertext reveals little about the value.
 */
export function sealJson(key: Uint8Array, value: unknown, place: CiphertextPlace): Buffer {
  const text = JSON.stringify(value);
  const over = Buffer.byteLength(text) % blockBytes;
  return sealCiphertext(key, over === 0 ? text : text + spaces.slice(over), place);
}

/** Decrypts the result of `sealJson`; undefined if the ciphertext is damaged, moved or under another key. */
export function openJson(key: Uint8Array, box: Uint8Array, place: CiphertextPlace): Json | undefined {
  const plain = openCiphertext(key, box, place);
  if (plain === null) return undefined;
  const value = JSON.parse(plain.toString('utf8')) as Json;
  plain.fill(0);
  return value;
}
