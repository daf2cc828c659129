import { openCiphertext, sealCiphertext } from '../../events/sealing/ciphertext.js';

const place = { tenantId: '', stream: 'root', revision: 0, keyId: 'root', field: 'root-check' } as const;

/** Returns an empty value sealed under the root key. Every new key store holds one. */
export function newRootCheck(rootKey: Buffer): Buffer {
  return sealCiphertext(rootKey, Buffer.alloc(16), place);
}

/** Returns whether the keys of the store are under this root key. */
export function passesRootCheck(rootKey: Buffer, check: Buffer): boolean {
  return openCiphertext(rootKey, check, place) !== null;
}
