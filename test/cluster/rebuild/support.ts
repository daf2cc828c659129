import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { onTestFinished } from 'vitest';
import { connectMongo } from '#src/adapters/mongodb/connection.js';
import { generationsCollection } from '#src/adapters/mongodb/generations/generations-document.js';
import { keyCollections } from '#src/adapters/mongodb/key-store/key-collections.js';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { openCluster } from '#src/compose/cluster/open-cluster.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { rootKeyIn } from '../../rotation/support.js';
import { startStandIn } from '../../support/eventstoredb.js';
import { makeRootKey, tempDir } from '../../support/process.js';
import { rule } from '../../support/test-service.js';
import { mongoUrl } from '../own-database.js';

const redisUrl = process.env['STRONGROOM_TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6479';

/** Opens a vault's two databases for one test, and closes them when the test ends. */
export async function databasesOf(database: string): Promise<{ readonly rows: Db; readonly keys: Db }> {
  const open = async (name: string): Promise<Db> => {
    const connection = await connectMongo(mongoUrl, name);
    onTestFinished(connection.close);
    return connection.db;
  };
  return { rows: await open(database), keys: await open(`${database}_keys`) };
}

/**
 * Returns the contents of the stores: the row collections with their sizes, the generations in use, and the search
 * keys.
 */
export async function storedIn({ rows, keys }: { readonly rows: Db; readonly keys: Db }) {
  const found = await rows.listCollections({ name: /^token_rows_/ }, { nameOnly: true }).toArray();
  const counted = found.map(async ({ name }) => [name, await rows.collection(name).countDocuments()] as const);
  const document = await generationsCollection(rows).findOne({});
  const living = await keyCollections.generationKeys(keys).find({ destroyed_at: null }).sort({ _id: 1 }).toArray();
  return {
    rows: Object.fromEntries(await Promise.all(counted)),
    read: document?.read,
    write: document?.write,
    rebuild: document?.rebuild ?? null,
    keys: living.map(({ _id }) => _id),
  };
}

/**
 * Creates a vault on the servers. Returns everything that a test needs to start processes, to open the vault in the
 * test's process, and to send requests. The requests come from an application that can reveal all tokens.
 */
export async function vaultOnServers(
  servers: { readonly mongodb: string; readonly rows?: string; readonly keys?: string } = { mongodb: mongoUrl },
  database = `strongroom_test_${randomBytes(8).toString('hex')}`,
) {
  const { mongodb, rows: rowsUrl = mongodb, keys: keysUrl = mongodb } = servers;
  const server = await startStandIn();
  onTestFinished(server.remove);
  const rootKeyFile = makeRootKey(tempDir());
  const open = (prepares = false) =>
    openCluster({
      urls: { eventstore: server.url, mongodb: rowsUrl, keys: keysUrl, redis: redisUrl },
      database,
      rootKey: rootKeyIn(rootKeyFile),
      role: 'api',
      prepares,
      cvcRetentionMs: 3_600_000,
      onError: (error) => console.error(error),
    });
  const service = await open(true);
  const access = { kind: 'rules', rules: [rule('/', 'reveal', tokenPermissions)] } as const;
  const spec = { name: 'all', type: 'private', access, expiresAt: null } as const;
  const tenant = await createTenant(service.vault, 'default', [spec]);
  await service.close();
  const connections = await Promise.all([database, `${database}_keys`].map((name) => connectMongo(mongodb, name)));
  const [rows, keys] = connections.map(({ db }) => db);
  if (rows === undefined || keys === undefined) throw new Error('two databases are opened');
  onTestFinished(async () => {
    for (const connection of connections) {
      await connection.call((db) => db.dropDatabase());
      await connection.close();
    }
  });
  const env = {
    STRONGROOM_PROFILE: 'cluster',
    STRONGROOM_INSECURE_STORES: 'true',
    STRONGROOM_ROOT_KEY_FILE: rootKeyFile,
    STRONGROOM_EVENTSTORE_URL: server.url,
    STRONGROOM_REDIS_URL: redisUrl,
    STRONGROOM_MONGODB_URL: rowsUrl,
    STRONGROOM_MONGODB_KEYS_URL: keysUrl,
    STRONGROOM_MONGODB_DATABASE: database,
    STRONGROOM_RATE_LIMIT_REQUESTS: '0',
    STRONGROOM_ADMIN_PORT: '0',
  };
  const [key] = tenant.keys;
  return {
    options: { env },
    key: key?.reveal() ?? '',
    managementKey: tenant.managementKey.reveal(),
    database,
    rows,
    keys,
    open,
  };
}
