import { randomBytes, randomUUID } from 'node:crypto';
import { type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mongoCheckpoints } from '#src/adapters/mongodb/checkpoints.js';
import { ensureGenerations, generationsCollection } from '#src/adapters/mongodb/generations/generations-document.js';
import { mongoGenerations } from '#src/adapters/mongodb/generations/mongo-generations.js';
import type { EventLog } from '#src/ports/event-log.js';
import { openClusterService } from '../support/cluster-service.js';
import { mongoDatabase, mongoUrl } from './own-database.js';

// MongoDB's clock can be set back, for example when the former primary's clock was ahead. What a process stored before
// that, and did not finish because it died, must not last until the clock has caught up.
const anHourAhead = () => new Date(Date.now() + 3_600_000);

let mongo: MongoClient;
let cluster: Awaited<ReturnType<typeof openClusterService>>;
const collection = (name: string) => mongo.db(cluster.database).collection<Document & { readonly _id: string }>(name);

beforeAll(async () => {
  mongo = await MongoClient.connect(mongoUrl);
  const onError = (error: unknown) => console.error(error);
  cluster = await openClusterService({ rootKey: randomBytes(32), cvcRetentionMs: 3_600_000, onError });
});

afterAll(async () => {
  await cluster.service.close();
  await cluster.remove();
  await mongo.close();
});

test('another process leads in place of a leader that died before the clock was set back', async () => {
  const { connection, drop } = await mongoDatabase();
  try {
    const checkpoints = mongoCheckpoints(connection);
    const first = await checkpoints.lead('tokens', 'dead', 10_000);
    expect(await checkpoints.lead('tokens', 'next', 10_000)).toBeNull();
    await connection.db.collection('checkpoints').updateOne({}, { $set: { until: anHourAhead() } });
    expect(await checkpoints.lead('tokens', 'next', 10_000)).toEqual({
      name: 'tokens',
      epoch: Number(first?.epoch) + 1,
    });
  } finally {
    await drop();
  }
});

test('another process continues the rebuild of a process that died before the clock was set back', async () => {
  const { connection, drop } = await mongoDatabase();
  try {
    await ensureGenerations(connection, async () => 1);
    const lease = { holder: 'dead', until: anHourAhead() };
    await generationsCollection(connection.db).updateOne({}, { $set: lease });
    const noLog: Pick<EventLog, 'readClear'> = { readClear: async () => [] };
    const generations = mongoGenerations(connection, noLog);
    expect(await generations.isElsewhere()).toBe(false);
  } finally {
    await drop();
  }
});

test('a retry takes over the claim of a process that died before the clock was set back', async () => {
  const cmd = randomUUID();
  expect(await cluster.service.vault.claims.begin(cmd, 0)).toEqual({ state: 'fresh' });
  const other = await cluster.another();
  try {
    expect(await other.vault.claims.begin(cmd, 0)).toEqual({ state: 'in_flight' });
    await collection('claims').updateOne({ _id: cmd }, { $set: { openedAt: anHourAhead() } });
    expect(await other.vault.claims.begin(cmd, 0)).toEqual({ state: 'fresh' });
  } finally {
    await other.close();
  }
});

test('the leader ends a batch, and removes a fingerprint claim, that were stored before the clock was set back', async () => {
  const left = { _id: randomUUID(), openedAt: anHourAhead(), mac: randomBytes(32) };
  await collection('batches').insertOne({ ...left, state: 'open', intents: [] });
  await collection('fingerprint_claims').insertOne({ ...left, attempt: 'dead', intent: {}, batch: null });
  for (const work of cluster.service.cleanup) await work();
  expect(await collection('batches').findOne({ _id: left._id })).toMatchObject({ state: 'undone' });
  expect(await collection('fingerprint_claims').countDocuments()).toBe(0);
});
