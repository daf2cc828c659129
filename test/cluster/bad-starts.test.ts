import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test, vi } from 'vitest';
import { prepareEventStoreDb } from '#src/adapters/eventstoredb/rights.js';
import { type StandIn, startSecureStandIn, startStandIn, startStandInCluster } from '../support/eventstoredb.js';
import { makeRootKey, run, runJson, tempDir } from '../support/process.js';
import { mongoUrl } from './own-database.js';

// The program takes several seconds to start on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

const redisUrl = process.env['STRONGROOM_TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6479';
const noServer = '127.0.0.1:9';

type Env = Readonly<Record<string, string>>;

async function eventStore(): Promise<StandIn> {
  const server = await startStandIn();
  onTestFinished(server.remove);
  return server;
}

/** Returns the settings for a vault that does not exist yet. As in a container, the secret settings are in files. */
function settingsOf(eventstoreUrl: string, dir = tempDir()): Env {
  const database = `strongroom_test_${randomBytes(8).toString('hex')}`;
  onTestFinished(async () => {
    const client = new MongoClient(mongoUrl);
    for (const name of [database, `${database}_keys`]) await client.db(name).dropDatabase();
    await client.close();
  });
  const fileOf = (name: string, text: string): string => {
    writeFileSync(join(dir, name), `${text}\n`, { mode: 0o600 });
    return join(dir, name);
  };
  return {
    STRONGROOM_PROFILE: 'cluster',
    STRONGROOM_INSECURE_STORES: 'true',
    STRONGROOM_MONGODB_DATABASE: database,
    STRONGROOM_ROOT_KEY_FILE: makeRootKey(dir),
    STRONGROOM_EVENTSTORE_URL_FILE: fileOf('eventstore.url', eventstoreUrl),
    STRONGROOM_MONGODB_URL_FILE: fileOf('mongodb.url', mongoUrl),
    STRONGROOM_REDIS_URL_FILE: fileOf('redis.url', redisUrl),
  };
}

/** Returns the settings without `name_FILE`. Instead, the setting `name` contains this address. */
function with_(env: Env, name: string, url: string): Env {
  const { [`${name}_FILE`]: _, ...others } = env;
  return { ...others, [name]: url };
}

async function expectRefusal(args: readonly string[], env: Env, message: RegExp): Promise<void> {
  const { code, stdout, stderr } = await run(args, { env, cwd: '/' });
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
  expect(stderr).not.toMatch(/unexpected error|\n.*\n/);
}

const worker = ['serve', '--role', 'worker', '--admin-port', '0'];

test('stores that do not belong to the vault are rejected, and the vault is unchanged', async () => {
  const server = await eventStore();
  const env = settingsOf(server.url);
  await expectRefusal(worker, env, /lacks .* Run `strongroom init`/);
  const { tenant_id: tenantId } = await runJson(['init'], { env });

  await expectRefusal(['init'], env, /already initialized; no tenant was created/);
  const other = { ...env, STRONGROOM_ROOT_KEY_FILE: makeRootKey(tempDir()) };
  await expectRefusal(worker, other, /this root key does not open/);

  const empty = with_(env, 'STRONGROOM_EVENTSTORE_URL', (await eventStore()).url);
  for (const args of [worker, ['init']])
    await expectRefusal(args, empty, /EventStoreDB is empty, but MongoDB already contains a vault/);

  const { tenants } = await runJson(['tenants', 'list'], { env });
  expect(tenants).toEqual([{ name: 'default', tenant_id: tenantId }]);
});

test('no process creates keys for a vault whose keys have not been restored yet', async () => {
  const env = settingsOf((await eventStore()).url);
  await runJson(['init'], { env });
  const client = new MongoClient(mongoUrl);
  onTestFinished(() => client.close());
  const keys = client.db(`${env['STRONGROOM_MONGODB_DATABASE']}_keys`);
  await keys.dropDatabase();
  for (const args of [worker, ['tenants', 'list'], ['init']])
    await expectRefusal(args, env, /^the database for the keys is empty.*strongroom restore/);
  const noLog = with_(env, 'STRONGROOM_EVENTSTORE_URL', (await eventStore()).url);
  await expectRefusal(worker, noLog, /^the database for the keys is empty/);
  await expectRefusal(['init'], noLog, /^EventStoreDB is empty, but MongoDB already contains a vault/);
  expect(await keys.listCollections().toArray()).toEqual([]);
});

test('the event log of another vault is rejected', async () => {
  const env = settingsOf((await eventStore()).url);
  await runJson(['init'], { env });
  const another = settingsOf((await eventStore()).url);
  await runJson(['init'], { env: another });
  const { STRONGROOM_EVENTSTORE_URL_FILE: itsLog = '' } = another;
  await expectRefusal(
    worker,
    { ...env, STRONGROOM_EVENTSTORE_URL_FILE: itsLog },
    /EventStoreDB and the key store belong to different vaults/,
  );
});

test('an event log that lost recorded events is rejected', async () => {
  const server = await eventStore();
  const env = settingsOf(server.url);
  await runJson(['init'], { env });
  const client = new MongoClient(mongoUrl);
  const checkpoints = client.db(env['STRONGROOM_MONGODB_DATABASE']).collection<{ _id: string }>('checkpoints');
  await checkpoints.updateOne(
    { _id: 'tokens' },
    { $set: { position: 2 ** 40, epoch: 1, holder: null } },
    { upsert: true },
  );
  await client.close();
  await expectRefusal(worker, env, /lacks events that MongoDB has recorded/);
});

test('rows that a newer version built are rejected, and stay as they are', async () => {
  const env = settingsOf((await eventStore()).url);
  await runJson(['init'], { env });
  const client = new MongoClient(mongoUrl);
  onTestFinished(() => client.close());
  const generations = client.db(env['STRONGROOM_MONGODB_DATABASE']).collection('generations');
  await generations.updateOne({}, { $set: { 'versions.tokens': 99 } });
  const stored = await generations.findOne({});
  for (const args of [['tenants', 'list'], worker])
    await expectRefusal(args, env, /the projection tokens in MongoDB was built by a newer version of Strongroom/);
  expect(await generations.findOne({})).toEqual(stored);
});

test('if a store does not respond or rejects the vault, the message names the store and says what to check', async () => {
  const server = await eventStore();
  const env = settingsOf(server.url);
  await runJson(['init'], { env });
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['STRONGROOM_EVENTSTORE_URL', `esdb://${noServer}?tls=false`, /^eventstoredb is unavailable .*eventstore\.url/],
    ['STRONGROOM_EVENTSTORE_URL', 'esdb://127.0.0.1?tlsCAFile=/nowhere', /^the address of EventStoreDB cannot be used/],
    ['STRONGROOM_MONGODB_URL', `mongodb://${noServer}/?replicaSet=rs0`, /^mongodb is unavailable .*mongodb\.url/],
    [
      'STRONGROOM_MONGODB_URL',
      mongoUrl.replace('replicaSet=', 'replicaSet=other-'),
      /^no host in mongodb\.url or mongodb\.keys_url belongs to the replica set/,
    ],
    ['STRONGROOM_MONGODB_URL', 'mongodb://127.0.0.1/?nonsense=1', /^the address of MongoDB cannot be used/],
    ['STRONGROOM_MONGODB_URL', 'mongodb://127.0.0.1/?readConcernLevel=local', /^mongodb\.url .* remove these options/],
    ['STRONGROOM_MONGODB_URL', 'mongodb://127.0.0.1/?w=1&journal=false', /^mongodb\.url .* remove these options/],
    ['STRONGROOM_MONGODB_URL', mongoUrl.replace('//', '//nobody:pw@'), /^MongoDB does not know this user/],
    [
      'STRONGROOM_MONGODB_KEYS_URL',
      `${mongoUrl}&tls=true&tlsCAFile=/nowhere`,
      /^the address of MongoDB cannot be used/,
    ],
  ];
  for (const [name, url, message] of cases) await expectRefusal(worker, with_(env, name, url), message);
});

test('if EventStoreDB cannot be used, the message names the cause', async () => {
  const cluster = await startStandInCluster();
  onTestFinished(cluster.remove);
  const secure = await startSecureStandIn();
  onTestFinished(secure.remove);
  await prepareEventStoreDb(secure.url, secure.urlOf('strongroom:its-password'));
  await prepareEventStoreDb(secure.url, secure.urlOf('other:password'));
  const env = settingsOf(cluster.url);
  await runJson(['init'], { env });
  const [node] = cluster.nodes;
  const cases: readonly (readonly [string, RegExp])[] = [
    [`esdb://127.0.0.1:${node?.port}?tls=false`, /^eventstore\.url names one node of a cluster of 3/],
    [`esdb://${noServer},127.0.0.1:10?tls=false`, /^none of the hosts in eventstore\.url responds as EventStoreDB/],
    [`${cluster.url.replace('esdb:', 'esdb+discover:')}`, /esdb\+discover:\/\/ takes one DNS name/],
    [secure.urlOf('strongroom:wrong'), /^EventStoreDB rejected the user strongroom with this password/],
    [secure.urlOf('strongroom:its-password'), /^the user strongroom of eventstore\.url may not read \$all/],
  ];
  for (const [url, message] of cases)
    await expectRefusal(worker, with_(env, 'STRONGROOM_EVENTSTORE_URL', url), message);
});
