import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { type ClusterOptions, openCluster } from '#src/compose/cluster/open-cluster.js';
import { serveInMemory } from './eventstoredb-stand-in/serve-in-memory.mjs';

const mongodb = process.env['STRONGROOM_TEST_MONGODB_URL'] ?? 'mongodb://127.0.0.1:27117/?replicaSet=rs0';
const redis = process.env['STRONGROOM_TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6479';

type Options = Omit<ClusterOptions, 'urls' | 'database' | 'role' | 'prepares'>;

/**
 * Opens a service in the cluster profile with a separate log, separate databases and a separate Redis prefix. The
 * service has no worker, so the sweep and the checkpointer run only when the test calls them. `remove` deletes
 * everything that belongs to the service.
 */
export async function openClusterService(options: Options) {
  const database = `strongroom_test_${randomBytes(8).toString('hex')}`;
  const server = await serveInMemory();
  const urls = { eventstore: server.url, mongodb, keys: mongodb, redis };
  // On a busy machine, Redis can be late. The process would then count some uses itself, and a limit would be exceeded.
  const given = { ...options, urls, database, role: 'api', rateLimitWaitMs: 30_000 } as const;
  const cluster = await openCluster({ ...given, prepares: true });
  return {
    service: {
      ...cluster,
      sweep: cluster.newSweep(),
      checkpointer: cluster.newCheckpointer(),
      webhooks: cluster.newWebhooks(),
    },
    database,
    /** Opens the same stores again, as another process would. The caller must close the result. */
    another: () => openCluster({ ...given, prepares: false }),
    /** The cluster profile has no files. A test that reads files must call `embeddedOnly`. */
    dataDir: '/nowhere',
    async remove(): Promise<void> {
      server.close();
      await Promise.all([dropDatabases([database, `${database}_keys`]), dropPrefix(database)]);
    },
  };
}

async function dropDatabases(names: readonly string[]): Promise<void> {
  const client = await MongoClient.connect(mongodb);
  await Promise.all(names.map((name) => client.db(name).dropDatabase()));
  await client.close();
}

async function dropPrefix(prefix: string): Promise<void> {
  const client = new Redis(redis);
  for await (const keys of client.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    if (keys.length > 0) await client.del(...keys);
  }
  client.disconnect();
}
