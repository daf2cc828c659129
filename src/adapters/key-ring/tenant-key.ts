import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { openCiphertext, sealCiphertext } from '../../events/sealing/ciphertext.js';
import type { TenantKeys } from '../../ports/key-ring.js';
import { keyBytes } from './random-key.js';

/**
 * `identity` never rotates: subkeys derive from it. `wrapping` wraps data keys and may be followed by a newer one. The
 * keys of `audit-signing` and `integrity` belong to the vault, not to a tenant.
 */
export type TenantKeyPurpose = 'identity' | 'wrapping' | VaultKeyPurpose;

/**
 * A vault has one key of each of these purposes, created at its first use. It never rotates; a rotation of the root key
 * rewraps it.
 */
export type VaultKeyPurpose = 'audit-signing' | 'integrity';

/** The tenant id of the vault's own keys. Code that rewraps tenant keys therefore rewraps them, too. */
export const vaultKeyTenant = '';

type TenantKeyName = { readonly id: string; readonly tenant: string; readonly purpose: string };

const subkeyPurposes = ['names', 'fingerprints', 'claims', 'audit', 'directory'] as const;

/** Returns a new tenant key, wrapped under the root key. */
export function newTenantKey(rootKey: Buffer, tenant: string, purpose: TenantKeyPurpose) {
  const name = { id: randomUUID(), tenant, purpose };
  const key = randomBytes(keyBytes);
  const wrapped = sealCiphertext(rootKey, key, place(name));
  key.fill(0);
  return { ...name, wrapped };
}

/** Returns a tenant key wrapped under the next root key; null if it does not open with the current one. */
export function rewrapTenantKey(rootKey: Buffer, next: Buffer, wrapped: Buffer, name: TenantKeyName): Buffer | null {
  const key = openTenantKey(rootKey, wrapped, name);
  if (key === null) return null;
  const rewrapped = sealCiphertext(next, key, place(name));
  key.fill(0);
  return rewrapped;
}

/** Returns null if the key was not wrapped by this root key, or not for this place. */
export function openTenantKey(rootKey: Buffer, wrapped: Buffer, name: TenantKeyName): Buffer | null {
  return openCiphertext(rootKey, wrapped, place(name));
}

/** Derives the subkeys of an identity key (HKDF, RFC 5869), and zeroes the identity key. */
export function deriveSubkeys(identity: Buffer, traceEpoch: () => number): TenantKeys {
  const [names, fingerprints, claims, audit, directory] = subkeyPurposes.map((purpose) =>
    Buffer.from(hkdfSync('sha256', identity, Buffer.alloc(0), `strongroom.tenant.${purpose}`, keyBytes)),
  ) as [Buffer, Buffer, Buffer, Buffer, Buffer];
  identity.fill(0);
  return { names, fingerprints, claims, audit, traceEpoch, directory };
}

function place({ id, tenant, purpose }: TenantKeyName) {
  return { tenantId: tenant, stream: purpose, revision: 0, keyId: id, field: 'tenant-key' } as const;
}
