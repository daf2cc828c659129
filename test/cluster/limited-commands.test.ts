import { randomUUID } from 'node:crypto';
import { Collection, type Document } from 'mongodb';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { MongoConnection } from '#src/adapters/mongodb/connection.js';
import { mongoDirectory } from '#src/adapters/mongodb/directory/directory.js';
import { directoryIndexes } from '#src/adapters/mongodb/directory/directory-indexes.js';
import { replaceDirectory } from '#src/adapters/mongodb/directory/replace-directory.js';
import { mongoKeyStore } from '#src/adapters/mongodb/key-store/mongo-key-store.js';
import { ensureIndexes } from '#src/adapters/mongodb/required-indexes.js';
import { createMongoRowComparison } from '#src/adapters/mongodb/token-rows/compare-rows.js';
import { mongoRowWriter } from '#src/adapters/mongodb/token-rows/row-writer.js';
import { mongoWebhookStore } from '#src/adapters/mongodb/webhook-store.js';
import { directoryName } from '#src/ports/key-store.js';
import { manualClock } from '../support/manual-clock.js';
import { databaseOfTest } from './own-database.js';
import { aRow, rowWrite } from './token-rows/a-row.js';

/** If one of these commands were not limited, it would exceed the time limit of a call in a large vault. */
function filtersOf(method: 'find' | 'updateMany' | 'deleteMany'): () => readonly Document[] {
  const spy = vi.spyOn(Collection.prototype, method);
  onTestFinished(() => spy.mockRestore());
  return () => (spy.mock.calls as unknown[][]).map(([filter]) => filter as Document);
}

test('the comparison of two generations reads the rows of at most 50 streams in one snapshot', async () => {
  const { connection } = await databaseOfTest();
  const rows = Array.from({ length: 120 }, (_, seq) => rowWrite(aRow({ seq: seq + 1 })));
  for (const { view, index } of rows) await mongoRowWriter(connection, 1).write(view, index, -1, 0);
  // These copies lack the mark, so they differ.
  await connection.db
    .collection('token_rows_1')
    .aggregate([{ $out: 'token_rows_2' }])
    .toArray();
  const finds = filtersOf('find');
  const { rows: compared, different } = await createMongoRowComparison(connection)(
    { from: 1, generation: 2 },
    { after: '', limit: 500 },
  );
  expect(compared).toBe(120);
  expect(different).toHaveLength(120);
  const asked = finds().flatMap(({ _id }) => (Array.isArray(_id?.$in) ? [_id.$in.length] : []));
  expect(asked.length).toBeGreaterThanOrEqual(6);
  expect(Math.max(...asked)).toBeLessThanOrEqual(50);
});

test('sealed ids for webhooks are emptied and removed in parts, each of which an index finds', async () => {
  const { connection } = await databaseOfTest();
  const webhooks = mongoWebhookStore(connection);
  const [removed, kept] = [randomUUID(), randomUUID()].sort();
  const ids = (webhookId = '', count = 0) =>
    Array.from({ length: count }, (_, number) => ({
      webhookId,
      eventId: randomUUID(),
      sealed: Buffer.from('sealed'),
      at: number < 12_000 ? 1_000 : number < 24_000 ? 2_000 : 3_000,
    }));
  const [ofRemoved, ofKept] = [ids(removed, 25_000), ids(kept, 25_000)];
  await webhooks.keepIds(ofRemoved);
  await webhooks.keepIds(ofKept);
  const [updates, deletes] = [filtersOf('updateMany'), filtersOf('deleteMany')];
  await webhooks.forgetIds(3_000, 2_000);
  const sealedIds = connection.db.collection('webhook_ids');
  const counts = async () => ({
    all: await sealedIds.countDocuments(),
    emptied: await sealedIds.countDocuments({ sealed: Buffer.alloc(0) }),
    sealed: await sealedIds.countDocuments({ at: 3_000, sealed: Buffer.from('sealed') }),
  });
  expect(await counts()).toEqual({ all: 26_000, emptied: 24_000, sealed: 2_000 });
  expect([updates().length, deletes().length]).toEqual([6, 6]);
  await webhooks.remove(removed ?? '');
  expect(await counts()).toEqual({ all: 13_000, emptied: 12_000, sealed: 1_000 });
  expect(await sealedIds.countDocuments({ '_id.webhook': kept })).toBe(13_000);
  expect(deletes()).toHaveLength(6 + 2);
  for (const filter of [...updates(), ...deletes()]) {
    expect(JSON.stringify(await sealedIds.find(filter).explain('queryPlanner'))).not.toContain('COLLSCAN');
  }
});

test('all applications are listed without the time limit of one response, and their revisions are read in parts', async () => {
  const { connection } = await databaseOfTest();
  await ensureIndexes(connection.db, [directoryIndexes]);
  const limits: (number | undefined)[] = [];
  const watched: MongoConnection = {
    ...connection,
    call(work, limitMs) {
      limits.push(limitMs);
      return connection.call(work, limitMs);
    },
  };
  expect(await mongoDirectory(watched).list('application')).toEqual([]);
  expect(await replaceDirectory(watched, [], { readStream: async () => [] })).toBe(true);
  expect(limits).toEqual([60_000, 60_000]);
  const { records } = mongoKeyStore(connection, manualClock(), async () => 0);
  const named = { kind: 'application', id: randomUUID() } as const;
  await records.noteDirectory([{ ...named, revision: 7 }]);
  const others = Array.from({ length: 300_000 }, () => ({ kind: 'application', id: randomUUID() }) as const);
  expect(await records.directoryRevisions([...others, named])).toEqual(new Map([[directoryName(named), 7]]));
});
