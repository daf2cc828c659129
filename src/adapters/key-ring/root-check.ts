import { openBox, sealBox } from '../../events/sealing/box.js';

const place = { tenantId: '', stream: 'root', revision: 0, keyId: 'root', field: 'root-check' } as const;

/** Returns an empty value sealed under the root key. Every new key store holds one. */
export function newRootCheck(rootKey: Buffer): Buffer {
  return sealBox(rootKey, Buffer.alloc(16), place);
}

/** Returns whether the keys of the store are under this root key. */
export function passesRootCheck(rootKey: Buffer, check: Buffer): boolean {
  return openBox(rootKey, check, place) !== null;
}
