import { hkdfSync, randomUUID } from 'node:crypto';
import { openCiphertext } from '../events/sealing/ciphertext.js';
import type { NewTenantKey, StoredTenantKey, TenantKeyName, TenantKeyPurpose } from '../ports/key-store.js';
import type { TenantKeys } from './key-ring.js';
import { keyBytes } from './random-key.js';
import { newWrappedKey, rewrapKey } from './wrapped-key.js';

const subkeyPurposes = ['names', 'fingerprints', 'claims', 'audit', 'directory'] as const;

/** Creates a tenant key, and returns it wrapped under the root key. */
export function newTenantKey(rootKey: Buffer, tenant: string, purpose: TenantKeyPurpose, number: number): NewTenantKey {
  const name = { id: randomUUID(), tenant, purpose };
  return { ...name, number, wrapped: newWrappedKey(rootKey, place(name)) };
}

/**
 * Rewraps a tenant key under the next root key, and returns the result. Returns null if the current root key cannot
 * unwrap the tenant key.
 */
export function rewrapTenantKey(rootKey: Buffer, next: Buffer, wrapped: Buffer, name: TenantKeyName): Buffer | null {
  return rewrapKey(rootKey, next, wrapped, place(name));
}

/** Returns the unwrapped key. Returns null if the key was wrapped under a different root key or name. */
export function openTenantKey(rootKey: Buffer, wrapped: Buffer, name: TenantKeyName): Buffer | null {
  return openCiphertext(rootKey, wrapped, place(name));
}

/**
 * Returns a tenant's identity key, given all of the tenant's keys. Returns a destroyed key only if every identity key of
 * the tenant is destroyed. Threat: a wrapped key can be unwrapped only under its own tenant, but nothing shows which
 * tenant a destroyed key belonged to. An attacker who can write to the key store can assign a deleted tenant's destroyed
 * key to a tenant that still exists.
 */
export function identityKeyOf(rows: readonly StoredTenantKey[]): StoredTenantKey | undefined {
  const keys = rows.filter(({ purpose }) => purpose === 'identity');
  return keys.find(({ wrapped }) => wrapped !== null) ?? keys[0];
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
