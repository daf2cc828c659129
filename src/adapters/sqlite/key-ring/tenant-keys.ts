import type { TenantKeys } from '../../../ports/key-ring.js';
import type { RootKeys } from '../../key-ring/root-keys.js';
import { deriveSubkeys, newTenantKey, openTenantKey } from '../../key-ring/tenant-key.js';
import type { TraceUses } from '../../key-ring/trace-uses.js';
import { StoreBroken } from '../database/database-error.js';
import { never } from '../database/keys-schema.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { reading } from '../database/reading.js';
import type { TenantKeyRow } from '../writer/protocol.js';

type StoredKey = {
  readonly id: string;
  readonly tenant: string;
  readonly purpose: string;
  readonly destroyed_at: number;
  readonly wrapped: Buffer;
};

/**
 * Creates the store of tenant keys, each wrapped under the root key (`key-ring/tenant-key.ts` lists their purposes).
 */
export function createTenantKeys(database: SqliteDatabase, roots: RootKeys, traceUses: Pick<TraceUses, 'next'>) {
  // Newest first by insertion order: a clock that was set back must not put an older key first.
  const byTenant = database.prepare(
    'SELECT id, tenant, purpose, destroyed_at, wrapped FROM tenant_keys WHERE tenant = ? ORDER BY rowid DESC',
  );
  const byId = database.prepare('SELECT id, tenant, purpose, destroyed_at, wrapped FROM tenant_keys WHERE id = ?');
  const wrapsOf = database.prepare('SELECT count FROM wraps WHERE tenant_key = ?').pluck();
  const subkeys = new Map<string, TenantKeys>();
  const wrapping = new Map<string, { readonly tenantId: string; readonly key: Buffer }>();
  const newestWrapping = new Map<string, string>();

  function unwrap(row: StoredKey): Buffer {
    const key = roots.open((rootKey) => openTenantKey(rootKey, row.wrapped, row));
    if (key === null) throw new StoreBroken('a tenant key in keys.db does not open: restore keys.db from a backup.');
    return key;
  }

  function load(tenantId: string): void {
    for (const row of reading(() => byTenant.all(tenantId) as StoredKey[], 'keys.db')) {
      if (row.destroyed_at !== never) continue;
      if (row.purpose === 'identity')
        subkeys.set(
          tenantId,
          deriveSubkeys(unwrap(row), () => traceUses.next(tenantId)),
        );
      else if (!newestWrapping.has(tenantId)) newestWrapping.set(tenantId, row.id);
    }
  }

  return {
    /** Returns a new tenant key, wrapped and ready to be stored. */
    make(rootKey: Buffer, tenantId: string, purpose: TenantKeyRow['purpose'], madeAt: number): TenantKeyRow {
      return { ...newTenantKey(rootKey, tenantId, purpose), madeAt };
    },
    subkeys(tenantId: string): TenantKeys | null {
      if (!subkeys.has(tenantId)) load(tenantId);
      return subkeys.get(tenantId) ?? null;
    },
    /** Returns the id of the key that wraps new data keys and its number of wraps; null for an unknown tenant. */
    newestWrapping(tenantId: string): { readonly id: string; readonly wraps: number } | null {
      if (!newestWrapping.has(tenantId)) load(tenantId);
      const id = newestWrapping.get(tenantId);
      return id === undefined ? null : { id, wraps: reading(() => Number(wrapsOf.get(id) ?? 0), 'keys.db') };
    },
    /** Call after storing a newer wrapping key. The next use looks it up. */
    rotated(tenantId: string): void {
      newestWrapping.delete(tenantId);
    },
    /** Forgets and zeroes wrapping keys that were destroyed because they wrap nothing any more. */
    retired(ids: readonly string[]): void {
      for (const id of ids) {
        wrapping.get(id)?.key.fill(0);
        wrapping.delete(id);
      }
    },
    wrappingKey(tenantId: string, id: string): Buffer | 'destroyed' | null {
      const known = wrapping.get(id);
      if (known !== undefined) return known.key;
      const row = reading(() => byId.get(id) as StoredKey | undefined, 'keys.db');
      if (row?.tenant !== tenantId || row.purpose !== 'wrapping') return null;
      if (row.destroyed_at !== never) return 'destroyed';
      const key = unwrap(row);
      wrapping.set(id, { tenantId, key });
      return key;
    },
    /** Returns whether the identity key of the tenant was destroyed. */
    areDestroyed(tenantId: string): boolean {
      const rows = reading(() => byTenant.all(tenantId) as StoredKey[], 'keys.db');
      return rows.some((row) => row.purpose === 'identity' && row.destroyed_at !== never);
    },
    /**
     * Forgets the opened keys of a tenant. Does not zero the subkeys: a running command may still hold them, and would
     * then hash and seal under a key of zeros, which any attacker knows.
     */
    drop,
    /** Forgets the opened keys of all tenants in the same way. */
    forgetAll(): void {
      for (const tenantId of new Set([...subkeys.keys(), ...[...wrapping.values()].map((known) => known.tenantId)])) {
        drop(tenantId);
      }
    },
  };

  function drop(tenantId: string): void {
    subkeys.delete(tenantId);
    newestWrapping.delete(tenantId);
    for (const [id, known] of [...wrapping]) {
      if (known.tenantId !== tenantId) continue;
      known.key.fill(0);
      wrapping.delete(id);
    }
  }
}
