import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteStores } from '#src/adapters/sqlite/open-stores.js';
import { createKeyCache } from '#src/keys/key-cache.js';
import { createOpenTenants } from '#src/keys/open-tenants.js';
import { openRootKeys } from '#src/keys/root-keys.js';
import { manualClock } from '../support/manual-clock.js';

const zeros = Buffer.alloc(32);

async function aKeyStore() {
  const dataDir = mkdtempSync(join(tmpdir(), 'strongroom-open-tenants-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const { keyStore, close } = await openSqliteStores(dataDir, manualClock(), (error) => {
    throw error;
  });
  onTestFinished(close);
  return keyStore;
}

/** Creates a tenant on a new key store, and opens the tenant's keys. */
async function aTenant() {
  const keyStore = await aKeyStore();
  const roots = await openRootKeys(keyStore, randomBytes(32), async () => []);
  const destroyed: string[] = [];
  const tenants = createOpenTenants(keyStore, roots, (tenantId) => void destroyed.push(tenantId), { next: () => 0 });
  const tenantId = randomUUID();
  await tenants.create(tenantId);
  const tenant = await tenants.current(tenantId);
  const id = tenant.newest?.id ?? '';
  const key = tenant.wrapping.get(id);
  if (!Buffer.isBuffer(key)) throw new Error('the tenant has no wrapping key');
  return { keyStore, tenants, tenantId, tenant, id, key, destroyed };
}

test('a wrapping key is zeroed when its tenant is dropped, and callers that still have the tenant no longer find the key', async () => {
  const { tenants, tenantId, tenant, id, key } = await aTenant();
  const before = key.toString('hex');
  tenants.drop(tenantId);
  expect(key).toEqual(zeros);
  expect(tenant.wrapping.get(id)).toBeUndefined();
  const again = await tenants.having(tenantId, id);
  expect((again.wrapping.get(id) as Buffer).toString('hex')).toBe(before);
});

test('a wrapping key is zeroed when the tenant’s keys turn out to be destroyed, and the subkeys stay unchanged', async () => {
  const { tenants, tenantId, tenant, id, key, destroyed } = await aTenant();
  expect(await tenants.destroy(tenantId, randomUUID())).toBe(2);
  expect((await tenants.fresh(tenantId)).state).toBe('destroyed');
  expect(destroyed).toEqual([tenantId]);
  expect(key).toEqual(zeros);
  expect(tenant.wrapping.get(id)).toBe('destroyed');
  expect(tenant.subkeys?.claims).not.toEqual(zeros);
});

test('a wrapping key that is added while its tenant’s keys are being destroyed counts as destroyed', async () => {
  const { keyStore, tenants, tenantId, id, key } = await aTenant();
  const added = (await keyStore.readTenantKeys(tenantId)).filter(({ purpose }) => purpose === 'wrapping');
  await tenants.destroy(tenantId, randomUUID());
  const others = (await keyStore.readTenantKeys(tenantId)).filter(({ purpose }) => purpose !== 'wrapping');
  Object.assign(keyStore, { readTenantKeys: async () => [...others, ...added] });
  expect((await tenants.fresh(tenantId)).wrapping.get(id)).toBe('destroyed');
  expect(key).toEqual(zeros);
});

test('keys that were being read while their tenant was dropped are not cached, so their destruction is noticed', async () => {
  const { keyStore, tenants, tenantId } = await aTenant();
  const { readTenantKeys } = keyStore;
  Object.assign(keyStore, {
    async readTenantKeys(id: string) {
      const rows = await readTenantKeys(id);
      tenants.drop(tenantId);
      return rows;
    },
  });
  expect((await tenants.fresh(tenantId)).state).toBe('living');
  Object.assign(keyStore, { readTenantKeys });
  await tenants.destroy(tenantId, randomUUID());
  expect((await tenants.current(tenantId)).state).toBe('destroyed');
});

test('a newer wrapping key is added, and the older one can still be used', async () => {
  const { tenants, tenantId, tenant, id, key } = await aTenant();
  await tenants.addWrapping([{ tenant: tenantId, number: (tenant.newest?.number ?? 0) + 1 }]);
  const { newest, wrapping } = await tenants.fresh(tenantId);
  expect(newest?.id).not.toBe(id);
  expect(wrapping.size).toBe(2);
  expect(wrapping.get(id)).toBe(key);
});

test('a key that was being read while the cache was cleared is not cached', () => {
  const cache = createKeyCache();
  onTestFinished(cache.close);
  const keep = cache.reading('tenant', 'key');
  cache.clear();
  expect(keep({ key: randomBytes(32), revision: 1 })).toBe(false);
  expect(cache.get('tenant', 'key')).toBeUndefined();
  const keepAgain = cache.reading('tenant', 'key');
  expect(keepAgain({ key: randomBytes(32), revision: 7 })).toBe(true);
  expect(cache.get('tenant', 'key')?.revision).toBe(7);
});

test('the root key is zeroed when it is replaced, and when it is closed', async () => {
  const store = await aKeyStore();
  const roots = await openRootKeys(store, randomBytes(32), async () => []);
  const from = (await store.rootCheck()) ?? Buffer.alloc(0);
  const inUse = () => roots.open((rootKey) => rootKey) ?? Buffer.alloc(0);
  const first = inUse();
  expect(first).not.toEqual(zeros);
  await roots.replace(randomBytes(32), from, async () => 'replaced');
  const second = inUse();
  expect(first).toEqual(zeros);
  expect(second).not.toEqual(zeros);
  roots.close();
  expect(second).toEqual(zeros);
});

test('a rotation first reads the root key that another process has put into use', async () => {
  const keyStore = await aKeyStore();
  const [first, second, next] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const roots = await openRootKeys(keyStore, first, async () => [Buffer.from(second)]);
  const other = await openRootKeys(keyStore, first, async () => []);
  const replace = async (by: typeof roots, to: Buffer) =>
    by.replace(to, (await keyStore.rootCheck()) ?? Buffer.alloc(0), (_rootKey, check, nextCheck) => {
      const rewrap = () => ({ tenantKeys: [], generationKeys: [] });
      return keyStore.rotation.replaceRoot({ check, nextCheck, rewrap });
    });
  expect(await replace(other, second)).toBe(true);
  expect(await replace(roots, next)).toBe(true);
});
