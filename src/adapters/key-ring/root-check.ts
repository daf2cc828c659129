import { openBox, sealBox } from '../../events/sealing/box.js';

const place = { tenantId: '', stream: 'root', revision: 0, keyId: 'root', field: 'root-check' } as const;

/** A box of nothing under the root key: a store of keys begins with it. */
export function newRootCheck(rootKey: Buffer): Buffer {
  return sealBox(rootKey, Buffer.alloc(16), place);
}

/** Whether this root key made the store. */
export function passesRootCheck(rootKey: Buffer, check: Buffer): boolean {
  return openBox(rootKey, check, place) !== null;
}
