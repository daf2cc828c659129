import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { operate } from '../audit/operate.js';
import { openClusterService } from '../support/cluster-service.js';
import { mongoUrl } from './own-database.js';

test('if the rows are dropped while a process runs, it is not ready, keys get 503 instead of 401, and init creates nothing', async () => {
  const options = { rootKey: randomBytes(32), cvcRetentionMs: 3_600_000, onError: () => undefined };
  const { service, database, remove } = await openClusterService(options);
  const client = await MongoClient.connect(mongoUrl);
  onTestFinished(async () => {
    await service.close();
    await remove();
    await client.close();
  });
  await createTenant(service.vault, 'default', []);
  expect(await service.vault.directory.byKeyHash('unknown')).toBeNull();
  expect((await service.state()).reasons).toEqual([]);

  await client.db(database).dropDatabase();
  await expect(service.vault.directory.byKeyHash('unknown')).rejects.toMatchObject({ reason: 'generations_missing' });
  await expect
    .poll(async () => (await service.state()).reasons, { timeout: 10_000 })
    .toEqual(['MongoDB lacks the record of which rows are in use: run `strongroom doctor`']);
  const head = await service.vault.log.head();
  await expect(operate(service, 'init', { name: 'another' })).rejects.toThrow('the vault is already initialized');
  expect(await service.vault.log.head()).toBe(head);
});
