import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Verification, verifyVault } from '#src/cli/audit/run-verify.js';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { openCluster } from '#src/compose/cluster/open-cluster.js';
import { operate } from '../audit/operate.js';
import { type StandIn, startStandIn } from '../support/eventstoredb.js';
import { mongoUrl } from './own-database.js';

type Stored = { readonly type: string; readonly position: number; metadata: string; id: string };

const redis = process.env['STRONGROOM_TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6479';
const database = `strongroom_test_${randomBytes(8).toString('hex')}`;
const rootKey = randomBytes(32);
let server: StandIn;
let mongo: MongoClient;
let journal: string;

const open = (prepares: boolean, acceptsOlderLog = false) =>
  openCluster({
    urls: { eventstore: server.url, mongodb: mongoUrl, keys: mongoUrl, redis },
    database,
    rootKey,
    role: 'api',
    prepares,
    acceptsOlderLog,
    cvcRetentionMs: 3_600_000,
    onError: () => undefined,
  });

beforeAll(async () => {
  server = await startStandIn();
  mongo = await MongoClient.connect(mongoUrl);
  const cluster = await open(true);
  for (const name of ['one', 'two', 'three']) await createTenant(cluster.vault, name, []);
  await cluster.vault.recorder.now([]);
  await cluster.newCheckpointer().run('grown');
  await createTenant(cluster.vault, 'four', []);
  await cluster.close();
  journal = readFileSync(join(server.directory, 'appends.jsonl'), 'utf8');
});

afterAll(async () => {
  await server.remove();
  for (const name of [database, `${database}_keys`]) await mongo.db(name).dropDatabase();
  await mongo.close();
});

async function verify(): Promise<Verification> {
  // Opens the stores read-only, as `audit verify` does.
  const cluster = await open(false, true);
  try {
    const options = { from: 1, to: null, anchor: null, publicKey: null, json: false };
    return await verifyVault((name, input) => operate(cluster, name, input), options);
  } finally {
    await cluster.close();
  }
}

/** Replaces the log's events with the result of `change`, verifies the log, and restores the events. */
async function afterTampering(change: (events: Stored[]) => Stored[]): Promise<Verification> {
  const file = join(server.directory, 'appends.jsonl');
  const write = async (text: string) => {
    await server.kill();
    writeFileSync(file, text);
    await server.start();
  };
  const appends = journal
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Stored[]);
  const changed = appends.map(change).filter((events) => events.length > 0);
  await write(`${changed.map((events) => JSON.stringify(events)).join('\n')}\n`);
  try {
    return await verify();
  } finally {
    await write(journal);
  }
}

const appendsOf = (): Stored[] =>
  journal
    .trimEnd()
    .split('\n')
    .flatMap((line) => JSON.parse(line) as Stored[]);
function secondTenant(): Stored {
  const found = appendsOf().filter(({ type }) => type === 'tenant.created')[1];
  if (found === undefined) throw new Error('there is no second tenant');
  return found;
}

test('an intact log is verified up to its checkpoint, including the access log', async () => {
  const verification = await verify();
  expect(verification.problem).toBeNull();
  expect(verification.log).toMatchObject({ proven: { number: 1 } });
  expect(verification.log.unsigned).toBeGreaterThan(0);
});

test('an event that was changed in EventStoreDB is named', async () => {
  const { id } = secondTenant();
  const { problem, log } = await afterTampering((events) =>
    events.map((event) => {
      if (event.id !== id) return event;
      const metadata = JSON.parse(Buffer.from(event.metadata, 'base64').toString('utf8'));
      return { ...event, metadata: Buffer.from(JSON.stringify({ ...metadata, actor: 'other' })).toString('base64') };
    }),
  );
  expect(problem?.kind).toBe('changed');
  expect(problem?.message).toContain(id);
  expect(log.events).toBeGreaterThan(1);
});

test('a link shows which events were removed from EventStoreDB', async () => {
  const { id } = secondTenant();
  const { problem } = await afterTampering((events) => (events.some((event) => event.id === id) ? [] : events));
  expect(problem?.kind).toBe('missing');
});

test('a link that was changed or removed in MongoDB is named', async () => {
  const links = mongo.db(database).collection<{ _id: number; hash: unknown }>('event_links');
  const all = await links.find().sort({ _id: 1 }).toArray();
  const [, second] = all;
  if (second === undefined) throw new Error('there are links');
  await links.updateOne({ _id: second._id }, { $set: { hash: randomBytes(32) } });
  expect((await verify()).problem).toMatchObject({ kind: 'changed', position: second._id });
  await links.deleteOne({ _id: second._id });
  expect((await verify()).problem).toMatchObject({ kind: 'inserted', position: second._id });
  await links.insertOne(second);
  expect((await verify()).problem).toBeNull();
});

test('the removal of batches from the access log is detected', async () => {
  const months = (await mongo.db(database).listCollections().toArray()).filter(({ name }) => /^access_\d/.test(name));
  for (const { name } of months) await mongo.db(database).collection(name).deleteMany({});
  expect((await verify()).problem).toMatchObject({ kind: 'access_log' });
});
