import { hkdfSync } from 'node:crypto';
import { type CiphertextPlace, openCiphertext } from '../events/sealing/ciphertext.js';
import { keyBytes } from './random-key.js';
import { newWrappedKey, rewrapKey } from './wrapped-key.js';

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
  return newWrappedKey(rootKey, place(generation));
}

export function openGenerationKey(rootKey: Buffer, wrapped: Buffer, generation: number): Buffer | null {
  return openCiphertext(rootKey, wrapped, place(generation));
}

/**
 * Rewraps a generation key under the next root key, and returns the result. Returns null if the current root key cannot
 * unwrap the generation key.
 */
export function rewrapGenerationKey(rootKey: Buffer, next: Buffer, wrapped: Buffer, generation: number): Buffer | null {
  return rewrapKey(rootKey, next, wrapped, place(generation));
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
