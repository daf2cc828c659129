import { openCiphertext, sealCiphertext } from '../events/sealing/ciphertext.js';
import { ownBuffer } from './random-key.js';

/**
 * The number of data keys that a wrapping key wraps before it is replaced. Random nonces make such a limit necessary
 * (NIST SP 800-38D, section 8.3).
 */
export const wrapsMax = 2 ** 30;

/** Identifies a data key, its tenant, and the key that wraps it. */
type DataKeyPlace = { readonly tenantId: string; readonly tenantKeyId: string; readonly keyId: string };

export function wrapDataKey(wrappingKey: Buffer, key: Buffer, of: DataKeyPlace): Buffer {
  return sealCiphertext(wrappingKey, key, place(of));
}

/**
 * Returns the unwrapped key in memory that contains only keys. Returns null if the data key was wrapped for a different
 * `DataKeyPlace` or under a different wrapping key.
 */
export function openDataKey(wrappingKey: Buffer, wrapped: Buffer, of: DataKeyPlace): Buffer | null {
  const opened = openCiphertext(wrappingKey, wrapped, place(of));
  return opened === null ? null : ownBuffer(opened);
}

/**
 * Rewraps a data key under a newer wrapping key of its tenant, and returns the result. Returns null if the old wrapping
 * key cannot unwrap the data key.
 */
export function rewrapDataKey(
  from: { readonly id: string; readonly key: Buffer },
  to: { readonly id: string; readonly key: Buffer },
  wrapped: Buffer,
  of: { readonly tenantId: string; readonly keyId: string },
): Buffer | null {
  const key = openDataKey(from.key, wrapped, { ...of, tenantKeyId: from.id });
  if (key === null) return null;
  const rewrapped = wrapDataKey(to.key, key, { ...of, tenantKeyId: to.id });
  key.fill(0);
  return rewrapped;
}

function place({ tenantId, tenantKeyId, keyId }: DataKeyPlace) {
  return { tenantId, stream: tenantKeyId, revision: 0, keyId, field: 'data-key' } as const;
}
