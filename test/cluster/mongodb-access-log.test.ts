import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { accessCollection } from '#src/adapters/mongodb/access-log/access-collections.js';
import { mongoAccessLog } from '#src/adapters/mongodb/access-log/mongo-access-log.js';
import { openAuthenticStores } from '#src/compose/embedded/embedded-stores.js';
import { accessLogContract, anEntry } from '../contract/access-log.js';
import type { ContractStores } from '../contract/support.js';
import { manualClock } from '../support/manual-clock.js';
import { databaseOfTest, mongoDatabase } from './own-database.js';

/** Opens the access log on a new MongoDB database. All other stores are in SQLite. */
async function mongoAccess(): Promise<ContractStores> {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-contract-'));
  const database = await mongoDatabase();
  const clock = manualClock();
  const fail = (error: unknown) => {
    throw error;
  };
  const others = await openAuthenticStores(dataDir, Buffer.alloc(32, 7), clock, fail);
  let connection = await database.connect();
  let accessLog = mongoAccessLog(connection);
  const close = async () => {
    await accessLog.close();
    await connection.close();
  };
  const contractStores = (): ContractStores => ({
    ...others,
    accessLog,
    clock,
    async reopen() {
      await close();
      connection = await database.connect();
      accessLog = mongoAccessLog(connection);
      return contractStores();
    },
    async close() {
      await close();
      await database.drop();
      await others.close();
      await rm(dataDir, { recursive: true });
    },
  });
  return contractStores();
}

accessLogContract('mongodb', mongoAccess);

test('an entry whose time is no time does not stop the counts', async () => {
  const { connection } = await databaseOfTest();
  const accessLog = mongoAccessLog(connection);
  onTestFinished(accessLog.close);
  const time = Date.UTC(2026, 0, 1);
  await accessLog.record([anEntry({ time }), anEntry({ time }), anEntry({ time }), anEntry({ time })]);
  const [head] = await accessLog.heads(0);
  if (head === undefined) throw new Error('there is no chain');
  for (const planted of ['soon', Number.NaN, 1e300]) {
    const { modifiedCount } = await connection.call((db) =>
      db.collection(accessCollection('2026-01')).updateOne({ time }, { $set: { time: planted } }),
    );
    expect(modifiedCount).toBe(1);
  }
  const { last, counts } = await accessLog.counts(head.chain, 0, head.sequence);
  expect(last).toBe(head.sequence);
  expect(counts.map(({ count }) => count)).toEqual([1]);
});
