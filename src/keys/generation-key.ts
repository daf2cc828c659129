import { hkdfSync, randomBytes } from 'node:crypto';
import { type CiphertextPlace, openCiphertext, sealCiphertext } from '../events/sealing/ciphertext.js';
import { keyBytes } from './random-key.js';

function place(generation: number): CiphertextPlace {
  return {
    tenantId: '',
    stream: 'token-rows',
    revision: generation,
    keyId: 'search',
    field: 'generation-key',
  };
}

/** Creates a generation key, and returns it wrapped under the root key. */
export function newGenerationKey(rootKey: Buffer, generation: number): Buffer {
  const key = randomBytes(keyBytes);
  const wrapped = sealCiphertext(rootKey, key, place(generation));
  key.fill(0);
  return wrapped;
}

export function openGenerationKey(rootKey: Buffer, wrapped: Buffer, generation: number): Buffer | null {
  return openCiphertext(rootKey, wrapped, place(generation));
}

/**
 * Rewraps a generation key under the next root key, and returns the result. Returns null if the current root key cannot
 * unwrap the generation key.
 */
export function rewrapGenerationKey(rootKey: Buffer, next: Buffer, wrapped: Buffer, generation: number): Buffer | null {
  const key = openGenerationKey(rootKey, wrapped, generation);
  if (key === null) return null;
  const rewrapped = sealCiphertext(next, key, place(generation));
  key.fill(0);
  return rewrapped;
}

/**
 * Derives a tenant's search-term key (HKDF, RFC 5869) from the generation key, and zeroes the generation key. The salt
 * is one of the tenant's keys. If either the generation key or the salt is destroyed, the search-term key can no longer
 * be derived.
 */
export function deriveSearchTermKey(generationKey: Buffer, tenantId: string, salt: Buffer): Buffer {
  const derived = Buffer.from(hkdfSync('sha256', generationKey, salt, `strongroom.search.${tenantId}`, keyBytes));
  generationKey.fill(0);
  return derived;
}
