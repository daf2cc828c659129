import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { connectMongo } from '#src/adapters/mongodb/connection.js';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { openCluster } from '#src/compose/cluster/open-cluster.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { rootKeyIn } from '../rotation/support.js';
import { startStandIn } from '../support/eventstoredb.js';
import { makeRootKey, tempDir } from '../support/process.js';
import { rule } from '../support/test-service.js';
import { mongoUrl } from './own-database.js';

const redisUrl = process.env['STRONGROOM_TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6479';

/**
 * Creates a vault in the cluster profile with two tenants. Each has an application that may do everything. Returns the
 * variables with which commands use the vault, and connections to its databases, which are dropped after the test.
 */
export async function clusterVault() {
  const server = await startStandIn();
  const database = `strongroom_test_${randomBytes(8).toString('hex')}`;
  const dir = tempDir();
  const rootKeyFile = makeRootKey(dir);
  const cluster = await openCluster({
    urls: { eventstore: server.url, mongodb: mongoUrl, keys: mongoUrl, redis: redisUrl },
    database,
    rootKey: rootKeyIn(rootKeyFile),
    role: 'api',
    prepares: true,
    cvcRetentionMs: 3_600_000,
    onError: (error) => console.error(error),
  });
  const access = { kind: 'rules', rules: [rule('/', 'reveal', tokenPermissions)] } as const;
  const spec = { name: 'all', type: 'private', access, expiresAt: null } as const;
  const tenant = await createTenant(cluster.vault, 'default', [spec]);
  const other = await createTenant(cluster.vault, 'other', [spec]);
  await cluster.close();
  const [rows, keys] = await Promise.all([
    connectMongo(mongoUrl, database),
    connectMongo(mongoUrl, `${database}_keys`),
  ]);
  onTestFinished(async () => {
    for (const connection of [rows, keys]) {
      await connection.call((db) => db.dropDatabase());
      await connection.close();
    }
    await server.remove();
  });
  const env = {
    STRONGROOM_PROFILE: 'cluster',
    STRONGROOM_INSECURE_STORES: 'true',
    STRONGROOM_ROOT_KEY_FILE: rootKeyFile,
    STRONGROOM_EVENTSTORE_URL: server.url,
    STRONGROOM_MONGODB_URL: mongoUrl,
    STRONGROOM_REDIS_URL: redisUrl,
    STRONGROOM_MONGODB_DATABASE: database,
    STRONGROOM_RATE_LIMIT_REQUESTS: '0',
  };
  return { dir, database, rootKeyFile, env, key: tenant.keys[0]?.reveal() ?? '', other, rows, keys };
}
