import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { dropUnusedRows } from '#src/adapters/mongodb/generations/drop-unused-rows.js';
import { ensureGenerations, generationsCollection } from '#src/adapters/mongodb/generations/generations-document.js';
import { mongoGenerations } from '#src/adapters/mongodb/generations/mongo-generations.js';
import { tokenRowsInUse } from '#src/adapters/mongodb/generations/rows-in-use.js';
import { storeUnavailableText, storeWasUnavailableText } from '#src/cli/store-unavailable-text.js';
import type { EventLog } from '#src/ports/event-log.js';
import type { Rebuild } from '#src/ports/generations.js';
import { StoreUnavailable, waitText } from '#src/ports/store-unavailable.js';
import { atNoon } from '../contract/support.js';
import { databaseOfTest } from './own-database.js';

const noLog: Pick<EventLog, 'readClear'> = { readClear: async () => [] };

function aRebuild(generation: number): Rebuild {
  return {
    generation,
    from: 1,
    phase: 'building',
    position: 0,
    head: 0,
    startedAt: atNoon,
    swappedAt: null,
    acceptNew: false,
    outcome: null,
    different: 0,
    examples: [],
    rate: null,
  };
}

/** Opens one database twice, as two processes would. */
async function twoProcesses() {
  const { connection, connect } = await databaseOfTest();
  await ensureGenerations(connection, async () => 1);
  const document = generationsCollection(connection.db);
  const open = async () => mongoGenerations(await connect(), noLog);
  return { connection, document, one: await open(), other: await open() };
}

test('a paused process changes nothing when it resumes after another process took over its rebuild', async () => {
  const { document, one, other } = await twoProcesses();
  expect(await one.begin(aRebuild(2))).toBe(true);
  await expect(other.save(aRebuild(2))).rejects.toThrow('rebuilt_by_another_process');
  await document.updateOne({}, { $set: { until: new Date(0) } });
  const further = { ...aRebuild(2), position: 9 };
  await other.save(further);
  for (const late of [
    () => one.save(aRebuild(2)),
    () => one.swap(aRebuild(2), 1),
    () => one.leave(2),
    () => one.end(null),
  ]) {
    const error = await late().catch((reason: unknown) => reason);
    if (!(error instanceof StoreUnavailable)) throw error;
    expect(waitText(error)).toBe('waiting for another process, which continues the rebuild');
    expect(storeUnavailableText(error)).toMatch(/^another process continues the rebuild\. .*projections status/);
    expect(storeWasUnavailableText(error)).toBe('another process continued the rebuild for a while.');
  }
  expect(await other.rebuild()).toEqual(further);
  expect(await one.inUse()).toEqual({ read: 1, write: [1, 2] });
  await one.release();
  await other.release();
});

test('a process that works on a rebuild is reported as alive, and a killed one is not', async () => {
  const { document, one, other } = await twoProcesses();
  await one.begin(aRebuild(2));
  expect(await other.isElsewhere()).toBe(true);
  expect(await one.isElsewhere()).toBe(false);
  await one.release();
  expect(await other.isElsewhere()).toBe(false);
  // A killed process would leave this state: the lease has a holder, but no process renews it.
  await document.updateOne({}, { $set: { holder: 'killed', until: new Date(Date.now() + 2_000) } });
  expect(await other.isElsewhere()).toBe(false);
});

test('a rebuild never starts a generation whose key may be destroyed', async () => {
  const { one, other } = await twoProcesses();
  expect(await one.retire([1, 5])).toEqual([5]);
  expect(await other.begin(aRebuild(5))).toBe(false);
  expect(await other.begin(aRebuild(6))).toBe(true);
  expect(await one.retire([5, 6])).toEqual([5]);
  await other.release();
});

test('if a process was paused until its rows were dropped, it reads the current rows and has to plan its search again', async () => {
  const { connection, document, one } = await twoProcesses();
  const _id = `token-${randomBytes(32).toString('hex')}`;
  const row = { _id, tenant: 'tenant', revision: 3, life: null, removed_at: 1 } as const;
  await connection.db.collection<typeof row>('token_rows_2').insertOne(row);
  await document.updateOne({}, { $set: { read: 2, write: [2] } });
  let asked = 0;
  const rows = tokenRowsInUse(connection, {
    fresh: one.fresh,
    async known() {
      asked += 1;
      return asked % 2 === 1 ? { read: 1, write: [1], at: performance.now() - 60_000 } : one.known();
    },
  });
  expect((await rows.get(_id))?.state.revision).toBe(3);
  expect(asked).toBe(2);
  const plan = { tenantId: 'tenant', generation: 1, all: '00', where: { kind: 'and', of: [] } } as const;
  await expect(rows.walk(plan, { now: 0, before: null, limit: 1 })).rejects.toThrow('generation_dropped');
});

test('rows in unused generations are dropped, no matter which process created them', async () => {
  const { connection, document } = await twoProcesses();
  for (const name of ['token_rows_1', 'token_rows_3', 'token_rows_7', 'token_rows_of_others']) {
    await connection.db.createCollection(name);
  }
  await document.updateOne({}, { $set: { read: 3, write: [3] } });
  await dropUnusedRows(connection);
  const left = await connection.db.listCollections({ name: /^token_rows/ }, { nameOnly: true }).toArray();
  expect(left.map(({ name }) => name).sort()).toEqual(['token_rows_3', 'token_rows_of_others']);
});
