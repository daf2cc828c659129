import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
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
 * Creates a vault in the cluster profile. Returns the vault and two machines that have its root key. Each machine has a
 * separate directory.
 */
export async function twoMachines() {
  const server = await startStandIn();
  const database = `strongroom_test_${randomBytes(8).toString('hex')}`;
  const dir = tempDir();
  const rootKeyFile = makeRootKey(dir);
  const service = await openCluster({
    urls: { eventstore: server.url, mongodb: mongoUrl, keys: mongoUrl, redis: redisUrl },
    database,
    rootKey: rootKeyIn(rootKeyFile),
    role: 'api',
    prepares: true,
    cvcRetentionMs: 3_600_000,
    onError: (error) => console.error(error),
  });
  const access = { kind: 'rules', rules: [rule('/', 'reveal', tokenPermissions)] } as const;
  const tenant = await createTenant(service.vault, 'default', [
    { name: 'all', type: 'private', access, expiresAt: null },
  ]);
  await service.close();
  const connections = await Promise.all([database, `${database}_keys`].map((name) => connectMongo(mongoUrl, name)));
  onTestFinished(async () => {
    for (const connection of connections) {
      await connection.call((db) => db.dropDatabase());
      await connection.close();
    }
    await server.remove();
  });
  const machine = (name: string) => {
    mkdirSync(join(dir, name));
    const file = join(dir, name, 'root.key');
    copyFileSync(rootKeyFile, file);
    const env = {
      STRONGROOM_PROFILE: 'cluster',
      STRONGROOM_INSECURE_STORES: 'true',
      STRONGROOM_ROOT_KEY_FILE: file,
      STRONGROOM_EVENTSTORE_URL: server.url,
      STRONGROOM_MONGODB_URL: mongoUrl,
      STRONGROOM_REDIS_URL: redisUrl,
      STRONGROOM_MONGODB_DATABASE: database,
      STRONGROOM_RATE_LIMIT_REQUESTS: '0',
      STRONGROOM_ADMIN_PORT: 'off',
    };
    return { file, nextFile: `${file}.new`, options: { env } };
  };
  const keys = connections[1];
  if (keys === undefined) throw new Error('no connection to the keys');
  const key = tenant.keys[0]?.reveal() ?? '';
  return { dir, one: machine('one'), other: machine('other'), oldRootKeyFile: rootKeyFile, key, keysDb: keys.db };
}
