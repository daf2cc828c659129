import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { openBox, sealBox } from '../../../events/sealing/box.js';
import type { TenantKeys } from '../../../ports/key-ring.js';
import { StoreBroken } from '../database-error.js';
import type { SqliteDatabase } from '../open-database.js';
import { reading } from '../reading.js';
import type { TenantKeyRow } from '../writer/protocol.js';

const keyBytes = 32;
const subkeyPurposes = ['names', 'fingerprints', 'claims', 'audit', 'directory'] as const;

type StoredKey = { readonly id: string; readonly tenant: string; readonly purpose: string; readonly wrapped: Buffer };

/**
 * The keys of tenants, each wrapped under the root key. `identity` never rotates: the subkeys that name streams and
 * fingerprints derive from it (HKDF, RFC 5869). `wrapping` wraps data keys and may be followed by a newer one.
 */
export function createTenantKeys(database: SqliteDatabase, rootKey: Buffer) {
  // Newest first by order of making: a clock that was set back must not bring an older one to the front.
  const byTenant = database.prepare(
    'SELECT id, tenant, purpose, wrapped FROM tenant_keys WHERE tenant = ? ORDER BY rowid DESC',
  );
  const byId = database.prepare('SELECT id, tenant, purpose, wrapped FROM tenant_keys WHERE id = ?');
  const wrapsOf = database.prepare('SELECT count FROM wraps WHERE tenant_key = ?').pluck();
  const subkeys = new Map<string, TenantKeys>();
  const wrapping = new Map<string, Buffer>();
  const newestWrapping = new Map<string, string>();

  function unwrap(row: StoredKey): Buffer {
    const key = openBox(rootKey, row.wrapped, place(row));
    if (key === null) throw new StoreBroken('a tenant key in keys.db does not open: restore keys.db from a backup.');
    return key;
  }

  function load(tenantId: string): void {
    for (const row of reading(() => byTenant.all(tenantId) as StoredKey[], 'keys.db')) {
      if (row.purpose === 'identity') subkeys.set(tenantId, derive(unwrap(row)));
      else if (!newestWrapping.has(tenantId)) newestWrapping.set(tenantId, row.id);
    }
  }

  return {
    /** A new key of a tenant, wrapped and ready to be stored. */
    make(tenantId: string, purpose: TenantKeyRow['purpose'], madeAt: number): TenantKeyRow {
      const row = { id: randomUUID(), tenant: tenantId, purpose, madeAt };
      const key = randomBytes(keyBytes);
      const wrapped = sealBox(rootKey, key, place(row));
      key.fill(0);
      return { ...row, wrapped };
    },
    subkeys(tenantId: string): TenantKeys | null {
      if (!subkeys.has(tenantId)) load(tenantId);
      return subkeys.get(tenantId) ?? null;
    },
    /** Id of the key that wraps new data keys, and how many it has wrapped; null for an unknown tenant. */
    newestWrapping(tenantId: string): { readonly id: string; readonly wraps: number } | null {
      if (!newestWrapping.has(tenantId)) load(tenantId);
      const id = newestWrapping.get(tenantId);
      return id === undefined ? null : { id, wraps: reading(() => Number(wrapsOf.get(id) ?? 0), 'keys.db') };
    },
    /** A newer wrapping key was stored: look it up at the next use. */
    rotated(tenantId: string): void {
      newestWrapping.delete(tenantId);
    },
    wrappingKey(tenantId: string, id: string): Buffer | null {
      const known = wrapping.get(id);
      if (known !== undefined) return known;
      const row = reading(() => byId.get(id) as StoredKey | undefined, 'keys.db');
      if (row?.tenant !== tenantId || row.purpose !== 'wrapping') return null;
      const key = unwrap(row);
      wrapping.set(id, key);
      return key;
    },
  };
}

function place({ id, tenant, purpose }: { id: string; tenant: string; purpose: string }) {
  return { tenantId: tenant, stream: purpose, revision: 0, keyId: id, field: 'tenant-key' } as const;
}

function derive(identity: Buffer): TenantKeys {
  const [names, fingerprints, claims, audit, directory] = subkeyPurposes.map((purpose) =>
    Buffer.from(hkdfSync('sha256', identity, Buffer.alloc(0), `strongroom.tenant.${purpose}`, keyBytes)),
  ) as [Buffer, Buffer, Buffer, Buffer, Buffer];
  identity.fill(0);
  return { names, fingerprints, claims, audit, directory };
}
