import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { mongoDirectory } from '#src/adapters/mongodb/directory/directory.js';
import { directoryCollection, directoryIndexes } from '#src/adapters/mongodb/directory/directory-indexes.js';
import { mongoDirectoryWriter } from '#src/adapters/mongodb/directory/directory-writer.js';
import { replaceDirectory } from '#src/adapters/mongodb/directory/replace-directory.js';
import { ensureIndexes } from '#src/adapters/mongodb/required-indexes.js';
import type { DirectoryRecord } from '#src/views/directory-view.js';
import { type Stored, withDirectoryMac } from '#src/views/row-mac.js';
import { aBox, aHash, macKey } from '../../contract/support.js';
import { databaseOfTest, mongoUrl } from '../own-database.js';

const noEvents = { readStream: async () => [] };

async function emptyDirectory() {
  const { connection } = await databaseOfTest();
  await ensureIndexes(connection.db, [directoryIndexes]);
  const rows = connection.db.collection<{ _id: string; revision: number; content_revision: number }>(
    directoryCollection,
  );
  return { connection, rows, directory: mongoDirectory(connection) };
}

function applications(count: number): Stored<DirectoryRecord>[] {
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

/** Changes a row in a transaction that stays open, as another vault's client could. Returns the end of the transaction. */
async function lockRow(database: string, id: string): Promise<() => Promise<void>> {
  const client = await MongoClient.connect(mongoUrl);
  onTestFinished(() => client.close());
  const session = client.startSession();
  session.startTransaction();
  const locked = client.db(database).collection<{ _id: string }>(directoryCollection);
  await locked.updateOne({ _id: id }, { $set: { locked: true } }, { session });
  return () => session.abortTransaction();
}

test('only rows that differ are written, so a rebuild does not wait for the others', async () => {
  const { connection, rows, directory } = await emptyDirectory();
  const [equal, lost, changed] = applications(3) as [
    Stored<DirectoryRecord>,
    Stored<DirectoryRecord>,
    Stored<DirectoryRecord>,
  ];
  await mongoDirectoryWriter(connection).writeAll([equal, lost, changed]);
  const rowOf = ({ id }: DirectoryRecord) => `application-${id}`;
  await rows.deleteOne({ _id: rowOf(lost) });
  await rows.updateOne({ _id: rowOf(changed) }, { $set: { revision: -1 } });
  const unlock = await lockRow(connection.db.databaseName, rowOf(equal));
  expect(await replaceDirectory(connection, [equal, lost, changed], noEvents)).toBe(true);
  await unlock();
  for (const record of [equal, lost, changed]) {
    expect(await directory.get('application', record.id)).toEqual(record);
  }
});

test('rows that need several operations are all replaced or all left, as in a rebuild of many applications', async () => {
  const { connection, rows } = await emptyDirectory();
  const records = applications(2_500);
  expect(await replaceDirectory(connection, records, noEvents)).toBe(true);
  const before = await rows.find().sort({ _id: 1 }).toArray();
  expect(before).toHaveLength(records.length);
  const replacements = records.map((record) => ({ ...record, contentRevision: record.contentRevision + 1 }));
  const keyOfTwo = replacements.map((record, at) =>
    at === 2_499 ? { ...record, keys: records[0]?.keys ?? [] } : record,
  );
  expect(await replaceDirectory(connection, keyOfTwo, noEvents)).toBe(false);
  expect(await rows.find().sort({ _id: 1 }).toArray()).toEqual(before);
  expect(await replaceDirectory(connection, replacements, noEvents)).toBe(true);
  const after = before.map((row) => ({ ...row, content_revision: row.content_revision + 1 }));
  expect(await rows.find().sort({ _id: 1 }).toArray()).toEqual(after);
});

test('a transaction that takes longer than the limit of one operation still replaces the rows', async () => {
  const { connection, rows } = await emptyDirectory();
  const [old] = applications(1) as [Stored<DirectoryRecord>];
  await mongoDirectoryWriter(connection).writeAll([old]);
  const unlock = await lockRow(connection.db.databaseName, `application-${old.id}`);
  const replaced = replaceDirectory(connection, [], noEvents);
  // A single operation may take five seconds.
  await wait(5_500);
  await unlock();
  expect(await replaced).toBe(true);
  expect(await rows.countDocuments()).toBe(0);
});
