import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { MongoConnection } from '#src/adapters/mongodb/connection.js';
import { mongoDirectory } from '#src/adapters/mongodb/directory/directory.js';
import { directoryIndexes } from '#src/adapters/mongodb/directory/directory-indexes.js';
import { mongoDirectoryWriter } from '#src/adapters/mongodb/directory/directory-writer.js';
import { checkIndexes, ensureIndexes } from '#src/adapters/mongodb/required-indexes.js';
import type { Directory } from '#src/ports/directory.js';
import type { DirectoryRecord } from '#src/views/directory-view.js';
import { type Stored, withDirectoryMac } from '#src/views/row-mac.js';
import { aBox, aHash, macKey } from '../../contract/support.js';
import { type MongoDatabase, mongoDatabase } from '../own-database.js';

let database: MongoDatabase;
let writer: ReturnType<typeof mongoDirectoryWriter>;
let directory: Directory;
let tenantId: string;

beforeAll(async () => {
  database = await mongoDatabase();
  await ensureIndexes(database.connection.db, [directoryIndexes]);
  writer = mongoDirectoryWriter(database.connection);
  directory = mongoDirectory(database.connection);
});

beforeEach(() => {
  tenantId = randomUUID();
});

afterAll(() => database.drop());

function tenantAt(revision: number): Stored<DirectoryRecord> {
  return withDirectoryMac(macKey, {
    kind: 'tenant',
    id: tenantId,
    tenantId,
    applicationType: null,
    revision,
    createdRevision: 0,
    contentRevision: 0,
    content: aBox(),
    keys: [],
    removedAt: null,
  });
}

function application(revision: number, given: Partial<DirectoryRecord> = {}): Stored<DirectoryRecord> {
  return withDirectoryMac(macKey, {
    kind: 'application',
    id: randomUUID(),
    tenantId,
    applicationType: 'private',
    revision,
    createdRevision: revision,
    contentRevision: revision,
    content: aBox(),
    keys: [],
    removedAt: null,
    ...given,
  });
}

const rawDirectory = () => database.connection.db.collection<{ _id: string; [field: string]: unknown }>('directory');

const revisionOf = async (kind: DirectoryRecord['kind'], id: string) =>
  (await directory.get(kind, id))?.revision ?? null;

test('a tenant’s row waits for the changes before it, so it is never newer than the rows of its applications', async () => {
  const [first, second] = [application(1), application(2)];
  expect(await writer.write([tenantAt(0)], -1)).toBe('written');
  expect(await writer.write([tenantAt(2), second], 1)).toBe('gap');
  expect(await revisionOf('tenant', tenantId)).toBe(0);
  expect(await revisionOf('application', second.id)).toBe(2);
  expect(await writer.write([tenantAt(1), first], 0)).toBe('written');
  expect(await writer.write([tenantAt(2), second], 1)).toBe('written');
  expect(await revisionOf('tenant', tenantId)).toBe(2);
  expect(await writer.write([tenantAt(1), first], 0)).toBe('stale');
});

test('a newer record in a tenant overwrites an older one, and an older record never overwrites a newer one', async () => {
  const newer = application(5);
  await writer.write([newer], 4);
  const older = { ...newer, revision: 1 };
  const other = application(2);
  expect(await writer.writeAll([tenantAt(2), older, other])).toBe('written');
  expect(await revisionOf('tenant', tenantId)).toBe(2);
  expect(await revisionOf('application', newer.id)).toBe(5);
  expect(await revisionOf('application', other.id)).toBe(2);
  expect(await writer.writeAll([tenantAt(2), older, other])).toBe('stale');
});

test('a tenant with many applications whose rows are current needs few calls, and never more than 16 at once', async () => {
  let calls = 0;
  let open = 0;
  let openMax = 0;
  const counting: MongoConnection = {
    ...database.connection,
    async call(work) {
      calls += 1;
      open += 1;
      openMax = Math.max(openMax, open);
      return database.connection.call(work).finally(() => {
        open -= 1;
      });
    },
  };
  const records = [...Array.from({ length: 2_100 }, (_, at) => application(at + 1)), tenantAt(2_100)];
  expect(await mongoDirectoryWriter(counting).writeAll(records)).toBe('written');
  expect(openMax).toBe(16);
  calls = 0;
  expect(await mongoDirectoryWriter(counting).writeAll(records)).toBe('stale');
  expect(calls).toBe(3);
});

test('if writers run concurrently, the newest record remains, whatever the order of the writes', async () => {
  for (let round = 0; round < 10; round += 1) {
    const id = randomUUID();
    const records = Array.from({ length: 8 }, (_, revision) => application(revision, { id }));
    const shuffled = [...records].sort(() => Math.random() - 0.5);
    await Promise.all(shuffled.map((record) => writer.write([record], record.revision - 1)));
    expect(await revisionOf('application', id)).toBe(7);
  }
});

/** Threat: an attacker damages a row, and the runner stops at it for all tenants. */
test.each([
  ['without a revision', { $unset: 'revision' }],
  ['with a revision of another type', { $set: { revision: 'x' } }],
  ['with a list of revisions', { $set: { revision: [0, 9] } }],
  ['whose keys are no list', { $set: { keys: 'x' } }],
])('a row %s is overwritten', async (_, change) => {
  const damaged = application(1);
  await writer.write([tenantAt(1), damaged], -1);
  await rawDirectory().updateMany({ tenant: tenantId }, [change]);
  const record = { ...damaged, revision: 2 };
  expect(await writer.writeAll([record, tenantAt(2)])).toBe('written');
  expect(await revisionOf('application', damaged.id)).toBe(2);
  expect(await revisionOf('tenant', tenantId)).toBe(2);
});

test('a record whose key is in a planted row is named, and the row of its tenant does not become newer', async () => {
  const record = application(1, { keys: [{ id: randomUUID(), hash: aHash() }] });
  await rawDirectory().insertOne({ _id: `planted-${randomUUID()}`, keys: record.keys });
  expect(await writer.write([tenantAt(1), record], -1)).toBe('gap');
  expect(await writer.writeAll([record, tenantAt(1)])).toEqual({ blocked: record });
  expect(await revisionOf('tenant', tenantId)).toBeNull();
});

test('the time of last use is kept if it is recorded between two changes', async () => {
  const key = { id: randomUUID(), hash: aHash() };
  const record = application(0, { keys: [key] });
  await writer.write([record], -1);
  const changes = Array.from({ length: 20 }, async (_, index) => {
    await writer.write([{ ...record, revision: index + 1 }], index);
    await directory.markKeyUsed(key.hash, 20_000 + index);
  });
  await Promise.all(changes);
  expect(await directory.keyUsedIn(key.hash)).toBe(20_019);
});

test('values that look like MongoDB operators are stored unchanged', async () => {
  const key = { id: '$kind', hash: '$$ROOT' };
  const record = application(0, { id: `$id-${randomUUID()}`, keys: [key] });
  await writer.write([record], -1);
  expect(await directory.get('application', record.id)).toMatchObject({ id: record.id, keys: [key] });
});

test('every query uses an index', async () => {
  const { db } = database.connection;
  const many = Array.from({ length: 200 }, (_, i) => application(i, { keys: [{ id: randomUUID(), hash: aHash() }] }));
  await Promise.all(many.map((record) => writer.write([record], -1)));
  const [{ id, keys }] = many as [Stored<DirectoryRecord>];
  const hash = String(keys[0]?.hash);
  await db.command({ profile: 2 });
  await directory.get('application', id);
  await directory.byKeyHash(hash);
  await directory.keyUsedIn(hash);
  await directory.markKeyUsed(hash, 20_000);
  await directory.applications(tenantId, { ids: null, types: null }, { offset: 0, limit: 20 }, () => undefined);
  await directory.list('tenant');
  await writer.write([{ ...(many[0] as Stored<DirectoryRecord>), revision: 300 }], 299);
  await db.command({ profile: 0 });
  const profiled = await db
    .collection('system.profile')
    .find({ ns: /\.directory$/ })
    .toArray();
  const summaries = profiled.map(({ planSummary }) => String(planSummary));
  expect(summaries.length).toBeGreaterThanOrEqual(8);
  for (const summary of summaries) expect(summary).toMatch(/^(IXSCAN|COUNT_SCAN|IDHACK|EXPRESS)/);
  const byKey = profiled.filter(({ planSummary }) => String(planSummary).includes('keys.hash'));
  expect(byKey.length).toBe(3);
  for (const one of byKey) expect(one['keysExamined']).toBe(1);
});

test('a missing index is named and then created again', async () => {
  const { db } = database.connection;
  expect(await checkIndexes(db, [directoryIndexes])).toEqual([]);
  await db.collection('directory').dropIndex('keys');
  const elsewhere = { ...directoryIndexes, collection: 'not_there' };
  expect(await checkIndexes(db, [directoryIndexes, elsewhere])).toEqual([
    'directory.keys',
    'not_there.keys',
    'not_there.order',
  ]);
  await ensureIndexes(db, [directoryIndexes]);
  expect(await checkIndexes(db, [directoryIndexes])).toEqual([]);
});
