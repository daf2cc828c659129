import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { openBox, sealBox } from '../../events/sealing/box.js';
import type { TenantKeys } from '../../ports/key-ring.js';
import { keyBytes } from './random-key.js';

/**
 * `identity` never rotates: subkeys derive from it. `wrapping` wraps data keys and may be followed by a newer one. The
 * keys of `audit-signing` and `integrity` belong to the vault, not to a tenant.
 */
export type TenantKeyPurpose = 'identity' | 'wrapping' | VaultKeyPurpose;

/** Keys of which a vault has one, made at its first use. They never rotate; a rotation of the root key rewraps them. */
export type VaultKeyPurpose = 'audit-signing' | 'integrity';

/** The tenant that keys of the vault are stored under, so that whatever rewraps the keys of tenants rewraps them too. */
export const vaultKeyTenant = '';

type TenantKeyName = { readonly id: string; readonly tenant: string; readonly purpose: string };

const subkeyPurposes = ['names', 'fingerprints', 'claims', 'audit', 'directory'] as const;

/** A new key of a tenant, wrapped under the root key. */
export function newTenantKey(rootKey: Buffer, tenant: string, purpose: TenantKeyPurpose) {
  const name = { id: randomUUID(), tenant, purpose };
  const key = randomBytes(keyBytes);
  const wrapped = sealBox(rootKey, key, place(name));
  key.fill(0);
  return { ...name, wrapped };
}

/** The same key of a tenant under the next root key; null when it does not open with the present one. */
export function rewrapTenantKey(rootKey: Buffer, next: Buffer, wrapped: Buffer, name: TenantKeyName): Buffer | null {
  const key = openTenantKey(rootKey, wrapped, name);
  if (key === null) return null;
  const rewrapped = sealBox(next, key, place(name));
  key.fill(0);
  return rewrapped;
}

/** Null: it was not wrapped by this root key, or not for this place. */
export function openTenantKey(rootKey: Buffer, wrapped: Buffer, name: TenantKeyName): Buffer | null {
  return openBox(rootKey, wrapped, place(name));
}

/** The subkeys of an identity key (HKDF, RFC 5869), which is zeroed. */
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
