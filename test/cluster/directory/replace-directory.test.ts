import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import type { MongoConnection } from '#src/adapters/mongodb/connection.js';
import { mongoDirectory } from '#src/adapters/mongodb/directory/directory.js';
import { directoryCollection, directoryIndexes } from '#src/adapters/mongodb/directory/directory-indexes.js';
import { mongoDirectoryWriter } from '#src/adapters/mongodb/directory/directory-writer.js';
import { replaceDirectory } from '#src/adapters/mongodb/directory/replace-directory.js';
import { ensureIndexes } from '#src/adapters/mongodb/required-indexes.js';
import type { DirectoryRecord } from '#src/views/directory-view.js';
import { type Stored, withDirectoryMac } from '#src/views/row-mac.js';
import { aBox, aHash, macKey } from '../../contract/support.js';
import { databaseOfTest, mongoUrl } from '../own-database.js';

type Row = Stored<DirectoryRecord>;

const noEvents = { readStream: async () => [] };

async function emptyDirectory() {
  const { connection } = await databaseOfTest();
  await ensureIndexes(connection.db, [directoryIndexes]);
  const rows = connection.db.collection<{ _id: string; revision: number; content_revision: number; keys?: unknown }>(
    directoryCollection,
  );
  return { connection, rows, directory: mongoDirectory(connection) };
}

function applications(count: number): Row[] {
  const tenantId = randomUUID();
  return Array.from({ length: count }, (_, at) =>
    withDirectoryMac(macKey, {
      kind: 'application',
      id: randomUUID(),
      tenantId,
      applicationType: 'private',
      revision: at,
      createdRevision: at,
      contentRevision: at,
      content: aBox(),
      keys: [{ id: randomUUID(), hash: aHash() }],
      removedAt: null,
    }),
  );
}

const rowOf = ({ kind, id }: Pick<DirectoryRecord, 'kind' | 'id'>) => `${kind}-${id}`;

test('only rows that differ are written, so a rebuild does not wait for the others', async () => {
  const { connection, rows, directory } = await emptyDirectory();
  const [equal, lost, changed] = applications(3) as [Row, Row, Row];
  await mongoDirectoryWriter(connection).writeAll([equal, lost, changed]);
  await rows.deleteOne({ _id: rowOf(lost) });
  await rows.updateOne({ _id: rowOf(changed) }, { $set: { revision: -1 } });
  // Another program changes the row in a transaction that stays open.
  const other = new MongoClient(mongoUrl);
  onTestFinished(() => other.close());
  const session = other.startSession();
  session.startTransaction();
  const locked = other.db(connection.db.databaseName).collection<{ _id: string }>(directoryCollection);
  await locked.updateOne({ _id: rowOf(equal) }, { $set: { locked: true } }, { session });
  expect(await replaceDirectory(connection, [equal, lost, changed], noEvents)).toBe(true);
  await session.abortTransaction();
  for (const record of [equal, lost, changed]) {
    expect(await directory.get('application', record.id)).toEqual(record);
  }
});

test('a directory of more rows than one command can write is added, then replaced', async () => {
  const { connection, rows } = await emptyDirectory();
  const records = applications(2_500);
  expect(await replaceDirectory(connection, records, noEvents)).toBe(true);
  const before = await rows.find().sort({ _id: 1 }).toArray();
  expect(before).toHaveLength(records.length);
  const replacements = records.map((record) => ({ ...record, contentRevision: record.contentRevision + 1 }));
  expect(await replaceDirectory(connection, replacements, noEvents)).toBe(true);
  const after = before.map((row) => ({ ...row, content_revision: row.content_revision + 1 }));
  expect(await rows.find().sort({ _id: 1 }).toArray()).toEqual(after);
});

test('rows that hold the keys of other records, or that belong to no record, do not stop a rebuild', async () => {
  const { connection, rows, directory } = await emptyDirectory();
  const [lost, lostToo, one, other, third, stray] = applications(6) as [Row, Row, Row, Row, Row, Row];
  await mongoDirectoryWriter(connection).writeAll([one, other, third, stray]);
  const [key, keyToo] = [lost.keys[0], lostToo.keys[0]];
  const setKeys = (row: Row, keys: unknown) => rows.updateOne({ _id: rowOf(row) }, { $set: { keys } });
  await setKeys(one, []);
  await setKeys(other, one.keys);
  await setKeys(one, other.keys);
  await setKeys(third, [{ ...key, hash: [key?.hash] }]);
  await setKeys(stray, keyToo);
  expect(await replaceDirectory(connection, [lost, lostToo, one, other, third], noEvents)).toBe(true);
  for (const record of [lost, lostToo, one, other, third]) {
    expect(await directory.get('application', record.id)).toEqual(record);
  }
  expect(await rows.countDocuments()).toBe(5);
});

test('a row whose list of keys is no list does not keep the key that it contains', async () => {
  const { connection, rows, directory } = await emptyDirectory();
  const [lost, forged] = applications(2) as [Row, Row];
  await mongoDirectoryWriter(connection).writeAll([forged]);
  await rows.updateOne({ _id: rowOf(forged) }, { $set: { keys: lost.keys[0] } });
  expect(await replaceDirectory(connection, [lost, forged], noEvents)).toBe(true);
  for (const record of [lost, forged]) expect(await directory.get('application', record.id)).toEqual(record);
});

test('a tenant’s row is written after the rows of its applications', async () => {
  const { connection, rows } = await emptyDirectory();
  const [lost, stale] = applications(2) as [Row, Row];
  const tenant: Row = { ...lost, kind: 'tenant', id: lost.tenantId, revision: 5, applicationType: null, keys: [] };
  await mongoDirectoryWriter(connection).writeAll([{ ...tenant, revision: 1 }, stale]);
  const changes = rows.watch();
  onTestFinished(() => changes.close());
  await changes.tryNext();
  expect(await replaceDirectory(connection, [tenant, lost, { ...stale, contentRevision: 2 }], noEvents)).toBe(true);
  const order: unknown[] = [];
  while (order.length < 3) {
    const change = await changes.next();
    order.push('documentKey' in change ? change.documentKey._id : change);
  }
  expect(order).toEqual([rowOf(lost), rowOf(stale), rowOf(tenant)]);
});

test('a row that another process changes in the meantime is left as it is, and the caller folds again', async () => {
  const { connection, rows } = await emptyDirectory();
  const [changed] = applications(1) as [Row];
  const write = mongoDirectoryWriter(connection);
  await write.writeAll([changed]);
  let calls = 0;
  const interrupted: MongoConnection = {
    ...connection,
    call: async (work) => {
      calls += 1;
      // The first call reads the rows, and the second call writes them.
      if (calls === 2) await write.writeAll([{ ...changed, revision: 7 }]);
      return connection.call(work);
    },
  };
  expect(await replaceDirectory(interrupted, [{ ...changed, contentRevision: 3 }], noEvents)).toBe(false);
  expect(await rows.findOne({ _id: rowOf(changed) })).toMatchObject({ revision: 7, content_revision: 0 });
});
