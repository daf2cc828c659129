import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { planOf } from '../plan.mjs';
import { startLimit, startLoadGenerator } from './processes.mjs';
import { createFresh, sideBySide } from './rounds.mjs';
import { makeVault } from './vault.mjs';

const standIn = fileURLToPath(new URL('../../test/support/eventstoredb-stand-in/main.mjs', import.meta.url));
const tokens = 2_000;
const connections = 64;

/**
 * Measures the cluster profile with one worker, first with one API process and then with two. The limit is what MongoDB
 * and EventStoreDB achieve without the vault.
 */
export async function measureCluster({ directory, mode, say }) {
  const mongodb = process.env.STRONGROOM_TEST_MONGODB_URL ?? 'mongodb://127.0.0.1:27117/?replicaSet=rs0';
  const redis = process.env.STRONGROOM_TEST_REDIS_URL ?? 'redis://127.0.0.1:6479';
  const plan = planOf(mode);
  const { rounds, warmUpSeconds } = plan;
  const database = `strongroom_bench_${randomBytes(6).toString('hex')}`;
  const eventStore = await startStandIn(join(directory, 'eventstoredb-stand-in'));
  Object.assign(process.env, {
    STRONGROOM_PROFILE: 'cluster',
    STRONGROOM_INSECURE_STORES: 'true',
    STRONGROOM_EVENTSTORE_URL: eventStore.url,
    STRONGROOM_MONGODB_URL: mongodb,
    STRONGROOM_MONGODB_DATABASE: database,
    STRONGROOM_REDIS_URL: redis,
  });
  const generator = startLoadGenerator();
  const fresh = createFresh(10_000_000);
  const table = [];
  const running = [];
  try {
    say(`importing ${tokens} tokens`);
    const { start, keys, ...vault } = await makeVault(join(directory, 'cluster'), tokens);
    const serve = async (name, role) => {
      const service = await start({ logFile: join(directory, `${name}.log`), role });
      running.push(service);
      return service;
    };
    await serve('worker', 'worker');
    const [one, two] = [await serve('api-1', 'api'), await serve('api-2', 'api')];
    for (const [work, limitName, limitArguments] of [
      ['get revealed', 'find-by-id', (bytes) => [mongodb, database, tokens, bytes]],
      ['get masked', 'find-by-id', (bytes) => [mongodb, database, tokens, bytes]],
      ['create card', 'append-and-upsert', (bytes) => [eventStore.url, mongodb, database, bytes]],
    ]) {
      const job = { work, origins: [one.origin], keys, connections: 1, from: 0, stored: tokens };
      const { bytes } = await generator.run({ ...job, count: 20, fresh: fresh(20) });
      const limit = await startLimit(limitName, limitArguments(Math.round(bytes)));
      try {
        for (const services of [[one], [one, two]]) {
          say(`${work}, ${services.length} API processes`);
          const origins = services.map(({ origin }) => origin);
          const [, other] = services;
          const competitors = [
            // `pid` is set only for a single API process. The processor time of one process would not cover the work of
            // two, so for two processes only the processor time of the whole machine is meaningful.
            { name: `${services.length} API`, origins, keys, stored: tokens, pid: other ? undefined : one.pid },
            { name: 'limit', origins: [limit.origin], keys, stored: tokens, pid: limit.pid },
          ];
          const count = plan.countOf(work, connections);
          table.push(
            await sideBySide(generator, { work, connections, count, rounds, warmUpSeconds, fresh, competitors }),
          );
        }
      } finally {
        await limit.stop();
      }
    }
    return { tokens: vault.size, table };
  } finally {
    for (const service of running) await service.stop();
    await generator.stop();
    eventStore.stop();
    await dropAll(mongodb, redis, database);
  }
}

async function startStandIn(directory) {
  const child = spawn(process.execPath, [standIn, directory, '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  while (!/:\d+\?tls=false\n/.test(output)) output += String((await once(child.stdout, 'data'))[0]);
  return { url: /esdb:\S+/.exec(output)[0], stop: () => child.kill('SIGKILL') };
}

async function dropAll(mongodb, redis, database) {
  const client = await MongoClient.connect(mongodb);
  for (const name of [database, `${database}_keys`]) await client.db(name).dropDatabase();
  await client.close();
  const connection = new Redis(redis);
  for await (const keys of connection.scanStream({ match: `${database}*`, count: 1_000 })) {
    if (keys.length > 0) await connection.del(...keys);
  }
  connection.disconnect();
}
