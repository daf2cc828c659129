import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { operate } from '../audit/operate.js';
import { openClusterService } from '../support/cluster-service.js';
import { mongoUrl } from './own-database.js';

async function vaultOnMongo() {
  const options = { rootKey: randomBytes(32), cvcRetentionMs: 3_600_000, onError: () => undefined };
  const { service, database, remove } = await openClusterService(options);
  const client = await MongoClient.connect(mongoUrl);
  onTestFinished(async () => {
    await service.close();
    await remove();
    await client.close();
  });
  await createTenant(service.vault, 'default', []);
  const reasons = async () => (await service.state()).reasons;
  expect(await reasons()).toEqual([]);
  return { service, db: client.db(database), reasons };
}

test('if EventStoreDB lacks events that the rows contain, a running process is not ready', async () => {
  const { service, db, reasons } = await vaultOnMongo();
  const checkpoints = db.collection<{ _id: string; position: number }>('checkpoints');
  const record = (position: number) =>
    checkpoints.updateOne({ _id: 'tokens' }, { $set: { position } }, { upsert: true });
  const head = await service.vault.log.head();
  await record(head + 1);
  await expect.poll(reasons).toEqual(['EventStoreDB lacks events that MongoDB has recorded: run `strongroom doctor`']);
  await record(head);
  await expect.poll(reasons).toEqual([]);
});

test('if the rows are dropped while a process runs, it is not ready, keys get 503 instead of 401, and init creates nothing', async () => {
  const { service, db, reasons } = await vaultOnMongo();
  expect(await service.vault.directory.byKeyHash('unknown')).toBeNull();

  await db.dropDatabase();
  await expect(service.vault.directory.byKeyHash('unknown')).rejects.toMatchObject({ reason: 'generations_missing' });
  await expect.poll(reasons).toEqual(['MongoDB lacks the record of which rows are in use: run `strongroom doctor`']);
  const head = await service.vault.log.head();
  await expect(operate(service, 'init', { name: 'another' })).rejects.toThrow('the vault is already initialized');
  expect(await service.vault.log.head()).toBe(head);
});
