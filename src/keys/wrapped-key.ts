import { randomBytes } from 'node:crypto';
import { type CiphertextPlace, openCiphertext, sealCiphertext } from '../events/sealing/ciphertext.js';
import { keyBytes } from './random-key.js';

/** Creates a random key, and returns it wrapped under another key. */
export function newWrappedKey(wrappingKey: Buffer, place: CiphertextPlace): Buffer {
  return wrapAndZero(wrappingKey, randomBytes(keyBytes), place);
}

/**
 * Rewraps a key under a different wrapping key, and returns the result. Returns null if the old wrapping key cannot
 * unwrap it.
 */
export function rewrapKey(from: Buffer, to: Buffer, wrapped: Buffer, place: CiphertextPlace): Buffer | null {
  const key = openCiphertext(from, wrapped, place);
  return key === null ? null : wrapAndZero(to, key, place);
}

function wrapAndZero(wrappingKey: Buffer, key: Buffer, place: CiphertextPlace): Buffer {
  const wrapped = sealCiphertext(wrappingKey, key, place);
  key.fill(0);
  return wrapped;
}
