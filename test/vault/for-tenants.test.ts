import { describe, expect, onTestFinished, test } from 'vitest';
import { MongoBroken } from '#src/adapters/mongodb/connection.js';
import { damagedFile } from '#src/adapters/sqlite/database/database-error.js';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { TenantKeysBroken } from '#src/keys/tenant-keys-broken.js';
import { ForgedLog } from '#src/ports/event-log.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { forTenants, orNull } from '#src/vault/for-tenants.js';
import { ForgedRow } from '#src/vault/forged-row.js';
import { KeyLost } from '#src/vault/key-lost.js';
import { LogBehind } from '#src/vault/log-behind.js';
import type { DirectoryRecord } from '#src/views/directory-view.js';
import { startTestService } from '../support/test-service.js';

const id = '00000000-0000-4000-8000-000000000000';

/** Starts a service with two tenants. `use` throws `error` for one of them, and lists the other one in `used`. */
async function twoTenants(error: Error) {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const other = await createTenant(service.vault, 'other', []);
  const reported: unknown[] = [];
  const used: string[] = [];
  const vault = { ...service.vault, reportDamage: (damage: unknown) => void reported.push(damage) };
  const use = async (record: DirectoryRecord) => {
    if (record.id === other.tenantId) throw error;
    used.push(record.id);
  };
  return { vault, use, used, reported, tenantId: service.tenantId, otherId: other.tenantId };
}

describe('the damage of one tenant is reported, and does not stop the work for the others', () => {
  test.each([
    new ForgedRow({ of: 'tenant', name: id }, 'outdated'),
    new KeyLost(`tenant-${id}`, 'key_missing'),
    new TenantKeysBroken(`a key of tenant ${id} in keys.db does not open`),
  ])('%s', async (error) => {
    const { vault, use, used, reported, tenantId, otherId } = await twoTenants(error);
    expect(await forTenants(vault, null, use)).toEqual([{ id: otherId, error }]);
    expect(used).toEqual([tenantId]);
    expect(await orNull(vault, () => Promise.reject(error))).toBeNull();
    expect(reported).toEqual([error, error]);
  });
});

describe('a problem with a whole store stops the work, so that nothing is left out for all tenants', () => {
  test.each([
    new MongoBroken('the user of mongodb.url or mongodb.keys_url lacks a permission in MongoDB.'),
    new MongoBroken({ check: 'keys', says: 'the keys are being restored', do: 'Wait until the restore ends' }),
    damagedFile('keys.db'),
    new ForgedLog('an event is missing'),
    new LogBehind(1),
    new StoreUnavailable('keys', 'full'),
  ])('%s', async (error) => {
    const { vault, use, reported } = await twoTenants(error);
    await expect(forTenants(vault, null, use)).rejects.toBe(error);
    await expect(orNull(vault, () => Promise.reject(error))).rejects.toBe(error);
    expect(reported).toEqual([]);
  });
});
