import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { mongoBudgets } from '#src/adapters/mongodb/budgets.js';
import { mongoCheckpoints } from '#src/adapters/mongodb/checkpoints.js';
import { consoleSessionIndexes, mongoConsoleSessions } from '#src/adapters/mongodb/console-sessions.js';
import { mongoDailyCounts } from '#src/adapters/mongodb/daily-counts.js';
import { createReadProof } from '#src/adapters/mongodb/read-proof.js';
import { ensureIndexes } from '#src/adapters/mongodb/required-indexes.js';
import { mongoWebhookStore } from '#src/adapters/mongodb/webhook-store.js';
import { stateFrom } from '#src/ports/webhook-store.js';
import { authenticWebhookStore } from '#src/vault/authentic-webhook-store.js';
import { budgetsContract } from '../contract/budgets.js';
import { checkpointsContract } from '../contract/checkpoints.js';
import { claimsContract } from '../contract/claims.js';
import { consoleSessionsContract } from '../contract/console-sessions.js';
import { dailyCountsContract } from '../contract/daily-counts.js';
import { eventChainContract } from '../contract/event-chain.js';
import { generationsContract } from '../contract/generations.js';
import { unitOfWorkContract } from '../contract/unit-of-work.js';
import { webhookStoreContract } from '../contract/webhook-store.js';
import { until } from '../support/process.js';
import { clusterStores } from './cluster-stores.js';
import { databaseOfTest, mongoDatabase } from './own-database.js';

unitOfWorkContract('mongodb', clusterStores);
claimsContract('mongodb', clusterStores);
budgetsContract('mongodb', clusterStores);
eventChainContract('mongodb', clusterStores);
generationsContract('mongodb', clusterStores);
checkpointsContract('mongodb', async () => {
  const { connection, drop } = await mongoDatabase();
  return { checkpoints: mongoCheckpoints(connection), close: drop };
});
dailyCountsContract('mongodb', async () => {
  const { connection, drop } = await mongoDatabase();
  return { counts: mongoDailyCounts(connection), close: drop };
});
webhookStoreContract('mongodb', async () => {
  const { connection, drop } = await mongoDatabase();
  return { webhooks: mongoWebhookStore(connection), close: drop };
});
consoleSessionsContract('mongodb', async () => {
  const { connection, drop } = await mongoDatabase();
  await ensureIndexes(connection.db, [consoleSessionIndexes]);
  return { sessions: mongoConsoleSessions(connection), close: drop };
});

test('daily counts whose removal is cut off are lost only together with their positions', async () => {
  const day = { tenantId: 'one', series: 'tokens', name: 'card', what: 'created', count: 1 } as const;
  const days = Array.from({ length: 1_500 }, (_, index) => ({ ...day, day: index }));
  let isCutOff = true;
  for (let callsMax = 0; isCutOff; callsMax += 1) {
    const { connection } = await databaseOfTest();
    const counts = mongoDailyCounts(connection);
    await counts.add({ source: 'log', from: 0, to: 10, counts: days, ended: [] });
    let calls = 0;
    const killed = mongoDailyCounts({
      ...connection,
      async call(work) {
        calls += 1;
        if (calls > callsMax) throw new Error('cut off');
        return connection.call(work);
      },
    });
    isCutOff = await killed.clear().then(
      () => false,
      () => true,
    );
    const position = (await counts.positions()).get('log');
    const left = await counts.days('one', 'tokens', 0, 99_999);
    expect([position, left.length]).toEqual(callsMax === 0 ? [10, 1_500] : [undefined, 0]);
  }
});

test.each([
  { until: 'soon' },
  { epoch: 'first' },
  { epoch: Number.NaN },
  { position: 'end' },
  { position: Number.NaN },
  { position: -1 },
  { position: 0.5 },
])('a checkpoint document with %o does not stop the background work', async (damage) => {
  const { connection, drop } = await mongoDatabase();
  const checkpoints = mongoCheckpoints(connection);
  const first = await checkpoints.lead('tokens', 'a', 10);
  if (first === null) throw new Error('no other process leads');
  await checkpoints.save(first, 7);
  await connection.db.collection('checkpoints').updateOne({}, { $set: damage });
  const lead = await until('a leader', 5_000, async () => (await checkpoints.lead('tokens', 'b', 60_000)) ?? undefined);
  expect(lead.epoch).toBe('epoch' in damage ? 1 : 2);
  expect(await checkpoints.position('tokens')).toBe('position' in damage ? 0 : 7);
  expect(await checkpoints.save(lead, 9)).toBe(true);
  expect(await checkpoints.position('tokens')).toBe(9);
  await drop();
});

test.each([null, 'many', Number.NaN])('a read proof changes a document with the value %o', async (proofs) => {
  const { connection, drop } = await mongoDatabase();
  const documents = connection.db.collection<{ _id: number; proofs: unknown }>('read_proofs');
  await documents.insertMany(Array.from({ length: 64 }, (_, _id) => ({ _id, proofs })));
  const prove = createReadProof(connection);
  const changed = async () => (await documents.find({ proofs: { $gte: 0 } }).toArray()).map((found) => found.proofs);
  await prove();
  const first = await changed();
  await prove();
  expect([first.length, (await changed()).length, first]).toEqual([1, 1, expect.not.arrayContaining(await changed())]);
  await drop();
});

test('two processes that reserve from one budget at the same time never exceed it', async () => {
  const { connection, drop } = await mongoDatabase();
  const processes = [mongoBudgets(connection), mongoBudgets(connection)];
  const application = randomUUID();
  const budget = { max: 100, windowMs: 3_600_000, suspectAbove: 10 };
  const request = { need: 5, spare: 'block', hits: 0, now: 0 } as const;
  const asked = Array.from({ length: 16 }, () =>
    processes.map((budgets) => budgets.reserve('guesses', application, budget, request)),
  );
  const reservations = await Promise.all(asked.flat());
  await drop();
  expect(reservations.reduce((sum, { granted }) => sum + granted, 0)).toBe(100);
});

test.each([5, null, { text: '' }])(
  'the state %j of a webhook is not authentic, and can be replaced',
  async (planted) => {
    const { connection } = await databaseOfTest();
    const store = authenticWebhookStore(mongoWebhookStore(connection), Buffer.alloc(32, 7));
    expect(await store.save('webhook', 0, stateFrom(1), [])).toBe(true);
    const { modifiedCount } = await connection.call((db) =>
      db.collection('webhook_states').updateOne({}, { $set: { state: planted } }),
    );
    expect(modifiedCount).toBe(1);
    expect(await store.state('webhook')).toEqual({ version: 1, state: null });
    expect(await store.save('webhook', 1, stateFrom(2), [])).toBe(true);
    expect(await store.state('webhook')).toEqual({ version: 2, state: stateFrom(2) });
  },
);
