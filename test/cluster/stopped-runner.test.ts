import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { openCluster } from '#src/compose/cluster/open-cluster.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { operate } from '../audit/operate.js';
import { startStandIn } from '../support/eventstoredb.js';
import { rule } from '../support/test-service.js';
import { mongoUrl } from './own-database.js';

const redis = process.env['STRONGROOM_TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6479';

test('a worker that cannot update the rows because the keys of a tenant are damaged is not ready, and names the error', async () => {
  const server = await startStandIn();
  onTestFinished(() => server.remove());
  const mongo = await MongoClient.connect(mongoUrl);
  const database = `strongroom_test_${randomBytes(8).toString('hex')}`;
  onTestFinished(async () => {
    for (const name of [database, `${database}_keys`]) await mongo.db(name).dropDatabase();
    await mongo.close();
  });
  const rootKey = randomBytes(32);
  const open = (role: 'api' | 'worker', prepares: boolean) =>
    openCluster({
      urls: { eventstore: server.url, mongodb: mongoUrl, keys: mongoUrl, redis },
      database,
      rootKey,
      role,
      prepares,
      cvcRetentionMs: 3_600_000,
      onError: () => undefined,
    });
  const api = await open('api', true);
  const access = { kind: 'rules', rules: [rule('/', 'reveal', tokenPermissions)] } as const;
  const application = { name: 'all', type: 'private', access, expiresAt: null } as const;
  const { tenantId, keys: issued } = await createTenant(api.vault, 'shop', [application]);
  const key = issued[0]?.reveal() ?? '';
  await operate(api, 'tokens-create', { key, request: { id: 'one', type: 'token', data: 'x' } });
  await api.close();
  await mongo.db(database).collection('token_rows_1').deleteMany({});
  const keys = mongo.db(`${database}_keys`).collection('tenant_keys');
  const sound = await keys.find({ tenant: tenantId }).toArray();
  await keys.updateMany({ tenant: tenantId }, { $set: { wrapped: randomBytes(60) } });

  const worker = await open('worker', false);
  worker.start();
  const reasons = async () => (await worker.state()).reasons.join();
  await expect.poll(reasons, { timeout: 20_000 }).toMatch(/rows are not updated: a key of tenant .* does not open/);
  for (const one of sound) await keys.replaceOne({ _id: one._id }, one);
  await expect.poll(reasons, { timeout: 20_000 }).not.toMatch('rows are not updated');
  await worker.close();
});
