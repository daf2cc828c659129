import { Binary } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import {
  accessCollection,
  accessIndexes,
  ensureAccessIndexes,
  monthsStored,
} from '#src/adapters/mongodb/access-log/access-collections.js';
import type { EntryDocument } from '#src/adapters/mongodb/access-log/entry-document.js';
import { entryKey } from '#src/adapters/mongodb/access-log/entry-key.js';
import { mongoAccessLog } from '#src/adapters/mongodb/access-log/mongo-access-log.js';
import type { MongoConnection } from '#src/adapters/mongodb/connection.js';
import { checkIndexes } from '#src/adapters/mongodb/required-indexes.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { anEntry, everything } from '../contract/access-log.js';
import { aHash, atNoon } from '../contract/support.js';
import { batchCount, verifyAccessChain } from '../support/verify-access-chain.js';
import { databaseOfTest } from './own-database.js';
import { profiled } from './profiled.js';

const firstPage = { offset: 0, limit: 100 };
const month = accessCollection('2026-01');

async function twoLogs() {
  const { connection, connect } = await databaseOfTest();
  const one = mongoAccessLog(connection);
  const other = mongoAccessLog(await connect());
  onTestFinished(async () => {
    await one.close();
    await other.close();
  });
  return { one, other, connection, connect };
}

const entriesIn = ({ db }: MongoConnection) => db.collection<EntryDocument>(month);

test('two processes write concurrently, each to its own chain, and each immediately finds what the other one recorded', async () => {
  const { one, other } = await twoLogs();
  for (let round = 0; round < 20; round += 1) {
    await Promise.all([one, other].flatMap((log) => Array.from({ length: 10 }, () => log.record([anEntry()]))));
    expect((await one.query('tenant', everything, firstPage)).total).toBe((round + 1) * 20);
    expect((await other.query('tenant', everything, firstPage)).total).toBe((round + 1) * 20);
  }
  const report = await verifyAccessChain(one);
  expect(report).toMatchObject({ problem: null, chains: [{ from: 1 }, { from: 1 }] });
  // Each of the two processes recorded 20 rounds. The ten concurrent callers in a round share at most two batches.
  expect(batchCount(report)).toBeLessThanOrEqual(2 * 20 * 2);
});

test('a planted entry whose key is longer than any other does not keep the list of chains from ending', async () => {
  const { one, other, connection } = await twoLogs();
  await Promise.all([one.record([anEntry()]), other.record([anEntry()])]);
  const [entry] = await entriesIn(connection).find().toArray();
  await connection.db.collection<{ _id: Buffer }>(month).insertOne({ ...entry, _id: Buffer.alloc(23) });
  expect(await one.chains()).toHaveLength(2);
  expect(await one.heads(0)).toHaveLength(2);
});

const tamperings: Readonly<Record<string, (connection: MongoConnection) => Promise<unknown>>> = {
  'a changed entry': (to) => entriesIn(to).updateOne({ message: 'entry 3' }, { $set: { time: atNoon + 1 } }),
  'a removed entry': (to) => entriesIn(to).deleteOne({ message: 'entry 3' }),
  'a changed hash': (to) =>
    entriesIn(to).updateOne({ message: 'entry 4' }, { $set: { 'batch.hash': new Binary(Buffer.alloc(32)) } }),
  'a removed batch': (to) => entriesIn(to).deleteMany({ message: { $in: ['entry 3', 'entry 4'] } }),
  'an unfinished batch': (to) => entriesIn(to).updateOne({ message: 'entry 4' }, { $unset: { batch: 1 } }),
  async 'a reference of another type, which no query by token finds'(to) {
    const found = await entriesIn(to).findOne({ message: 'entry 3' });
    const text = found?.ref?.toString('hex');
    await entriesIn(to).updateOne({ message: 'entry 3' }, [{ $set: { ref: text } }]);
  },
  'a trace of another type': (to) => entriesIn(to).updateOne({ message: 'entry 3' }, [{ $set: { trace: 'text' } }]),
  async 'an entry put in'(to) {
    const found = await entriesIn(to).findOne({ message: 'entry 3' });
    if (found === null) throw new Error('no entry');
    const { batch, _id, ...entry } = found;
    const key = Buffer.from(_id);
    key.writeUInt32BE(9, key.length - 4);
    await entriesIn(to).insertOne({ ...entry, _id: key });
  },
};

test.each(Object.entries(tamperings))('%s is detected by recomputing the chains', async (_name, tamper) => {
  const { one, other, connection } = await twoLogs();
  await other.record([anEntry()]);
  for (const number of [1, 3, 5]) {
    await one.record([anEntry({ message: `entry ${number}` }), anEntry({ message: `entry ${number + 1}` })]);
  }
  expect(await verifyAccessChain(one)).toMatchObject({ problem: null });
  await tamper(connection);
  expect(await verifyAccessChain(one)).toMatchObject({ problem: expect.stringContaining('of the access log') });
});

test('a failed write rejects all waiting records, and the next record starts a new chain', async () => {
  const { connection, connect } = await databaseOfTest();
  const healthy = await connect();
  let isDown = false;
  const log = mongoAccessLog({
    ...connection,
    async call(work) {
      if (isDown) throw new StoreUnavailable('mongodb', 'no_answer');
      return connection.call(work);
    },
  });
  await log.record([anEntry(), anEntry()]);
  isDown = true;
  const refused = await Promise.allSettled([log.record([anEntry()]), log.record([anEntry()])]);
  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isDown = false;
  // The server may have stored part of the rejected batch. The test simulates this by inserting one entry of that
  // batch.
  const [first] = await log.chains();
  const { _id, batch, ...rest } = (await entriesIn(healthy).findOne({})) as EntryDocument;
  await entriesIn(healthy).insertOne({ ...rest, _id: entryKey({ chain: String(first), sequence: 2, number: 0 }) });
  await log.record([anEntry()]);
  expect(await verifyAccessChain(log)).toMatchObject({
    problem: null,
    chains: [
      { chain: first, from: 1, head: 1 },
      { from: 1, head: 1 },
    ],
  });
  await log.close();
});

test('every combination of filters uses an index: totals read no entries, and pages read only the entries that they return', async () => {
  const { one, connection } = await twoLogs();
  const ref = aHash();
  const entries = Array.from({ length: 3_000 }, (_, index) =>
    anEntry({
      time: atNoon + index,
      tenantId: index % 3 === 0 ? 'other' : 'tenant',
      entityRef: index % 99 === 1 ? ref : aHash(),
      operation: index % 2 === 0 ? 'read' : 'delete',
      entityType: index % 5 === 0 ? 'key' : 'token',
    }),
  );
  await one.record(entries);
  const choices = [0, 1].flatMap((byRef) =>
    [0, 1].flatMap((byOperation) =>
      [0, 1].flatMap((byType) => [0, 1].map((to) => ({ byRef, byOperation, byType, to }))),
    ),
  );
  for (const { byRef, byOperation, byType, to } of choices) {
    const filter = {
      entityRef: byRef ? ref : null,
      operation: byOperation ? 'read' : null,
      entityType: byType ? 'token' : null,
      from: atNoon,
      to: to ? atNoon + 2_900 : null,
    };
    let found = { total: 0, entries: [] as readonly unknown[] };
    const calls = await profiled(connection, async () => {
      found = await one.query('tenant', filter, { offset: 0, limit: 20 });
    });
    const what = JSON.stringify({ filter, calls: calls.slice(-2).map(({ command, ...call }) => call) });
    const expected = entries.filter(
      (entry) =>
        entry.tenantId === 'tenant' &&
        (!byRef || entry.entityRef === ref) &&
        (!byOperation || entry.operation === 'read') &&
        (!byType || entry.entityType === 'token') &&
        (!to || entry.time < atNoon + 2_900),
    );
    expect(expected.length, what).toBeGreaterThan(0);
    expect(found.total, what).toBe(expected.length);
    const [count, page] = calls.slice(-2);
    for (const call of [count, page]) expect(call?.plan, what).toMatch(/^(IXSCAN|COUNT_SCAN)/);
    expect(count?.docsExamined, what).toBe(0);
    expect(page?.docsExamined, what).toBe(found.entries.length);
    if (byRef) expect(page?.keysExamined, what).toBeLessThanOrEqual(60);
    if (!byRef && !byOperation && !byType) expect(page?.keysExamined, what).toBeLessThanOrEqual(21);
  }
});

test('finding and reading chains reads only index keys', async () => {
  const { one, other, connection } = await twoLogs();
  await one.record(Array.from({ length: 2_000 }, () => anEntry()));
  await other.record([anEntry()]);
  const [chain = ''] = await one.chains();
  const calls = await profiled(connection, async () => {
    await one.chains();
    await one.batches(chain, 1, 1);
  });
  for (const call of calls) expect(call.plan, JSON.stringify(call)).toMatch(/^IXSCAN/);
  expect(calls.slice(0, 3).map(({ keysExamined }) => keysExamined)).toEqual([1, 1, 0]);
});

test('the indexes exist before a month begins, and also if the month’s first record creates the collection', async () => {
  const { one, connection } = await twoLogs();
  await ensureAccessIndexes(connection.db, Date.UTC(2026, 11, 31));
  expect(await monthsStored(connection.db)).toEqual(['2026-12', '2027-01']);
  await one.record([anEntry({ time: Date.UTC(2026, 4, 1) })]);
  const months = await monthsStored(connection.db);
  expect(months).toEqual(['2026-05', '2026-12', '2027-01']);
  expect(await checkIndexes(connection.db, months.map(accessIndexes))).toEqual([]);
});
