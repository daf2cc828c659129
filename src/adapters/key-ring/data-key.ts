import { openBox, sealBox } from '../../events/sealing/box.js';
import { ownBuffer } from './random-key.js';

/** Random nonces: a key that has wrapped this many is followed by a new one (NIST SP 800-38D, 8.3). */
export const wrapsMax = 2 ** 30;

/** Which data key, of which tenant, and which of the tenant's keys wraps it. */
export type DataKeyPlace = { readonly tenantId: string; readonly tenantKeyId: string; readonly keyId: string };

export function wrapDataKey(wrappingKey: Buffer, key: Buffer, of: DataKeyPlace): Buffer {
  return sealBox(wrappingKey, key, place(of));
}

/** The key in memory of its own; null when it was wrapped for another place, or by another key. */
export function openDataKey(wrappingKey: Buffer, wrapped: Buffer, of: DataKeyPlace): Buffer | null {
  const opened = openBox(wrappingKey, wrapped, place(of));
  return opened === null ? null : ownBuffer(opened);
}

function place({ tenantId, tenantKeyId, keyId }: DataKeyPlace) {
  return { tenantId, stream: tenantKeyId, revision: 0, keyId, field: 'data-key' } as const;
}
