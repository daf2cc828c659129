import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openDatabase, type SqliteDatabase } from '#src/adapters/sqlite/database/open-database.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { sqliteDirectory } from '#src/adapters/sqlite/directory.js';
import { createDirectoryRowWriter } from '#src/adapters/sqlite/writer/directory-row-writer.js';
import { startWriter, type Writer } from '#src/adapters/sqlite/writer/writer.js';
import type { DirectoryRecord } from '#src/views/directory-view.js';
import type { Stored } from '#src/views/row-mac.js';
import { tempDir } from '../../support/process.js';

let writer: Writer;
let reader: SqliteDatabase;
/** A connection that commits while the directory is read, as the writer's thread does. */
let other: SqliteDatabase;
beforeEach(async () => {
  const dataDir = tempDir();
  // The writer also reports the table that one test drops.
  writer = await startWriter(dataDir, { onBroken: () => undefined });
  reader = openDatabase(join(dataDir, 'vault.db'), 'vault.db', 'reader');
  other = pinStatements(join(dataDir, 'vault.db'), {});
});
afterEach(async () => {
  reader.close();
  other.close();
  await writer.close();
});

const [tenantId, id] = [randomUUID(), randomUUID()];

function newKey(): { readonly id: string; readonly hash: string } {
  return { id: randomUUID(), hash: randomBytes(32).toString('hex') };
}

function application(keys: DirectoryRecord['keys']): Stored<DirectoryRecord> {
  return {
    kind: 'application',
    id,
    tenantId,
    applicationType: 'private',
    revision: keys.length,
    createdRevision: 1,
    contentRevision: 1,
    content: randomBytes(8),
    removedAt: null,
    mac: randomBytes(32),
    keys,
  };
}

/** Makes a connection call `between` after each statement that it has run. */
function interrupt(database: SqliteDatabase, between: () => void): void {
  const prepare = database.prepare.bind(database);
  vi.spyOn(database, 'prepare').mockImplementation((sql) => {
    const statement = prepare(sql);
    for (const method of ['get', 'all'] as const) {
      const run = statement[method].bind(statement);
      vi.spyOn(statement, method).mockImplementation((...values: unknown[]) => {
        const found = run(...values);
        between();
        return found as unknown[];
      });
    }
    return statement;
  });
}

test('a record has the keys of its own revision, even if a key is issued at the same time', async () => {
  const rows = createDirectoryRowWriter(other);
  const keys = [newKey()];
  rows.write(application(keys));
  interrupt(reader, () => {
    keys.push(newKey());
    other.transaction(() => rows.write(application(keys)))();
  });
  const directory = sqliteDirectory(reader, writer);
  const read = {
    byKeyHash: () => directory.byKeyHash(keys[0]?.hash ?? ''),
    get: () => directory.get('application', id),
    list: async () => (await directory.list('application'))[0],
    applications: async () => {
      const page = { offset: 0, limit: 10 };
      const { records } = await directory.applications(tenantId, { ids: null, types: null }, page, () => undefined);
      return records[0];
    },
  };
  for (const [name, find] of Object.entries(read)) {
    const found = await find();
    const expected = keys.slice(0, found?.revision).map((key) => key.hash);
    expect([name, found?.keys.map(({ hash }) => hash).sort()]).toEqual([name, expected.sort()]);
  }
});

test('a tenant’s applications are read in small parts, so that a tenant with many of them stalls no other', async () => {
  const rows = createDirectoryRowWriter(other);
  for (let createdRevision = 0; createdRevision < 45; createdRevision += 1) {
    const applicationType = createdRevision % 2 === 0 ? ('public' as const) : ('private' as const);
    rows.write({ ...application([]), id: randomUUID(), createdRevision, applicationType });
  }
  rows.write({ ...application([]), tenantId: randomUUID() });
  const directory = sqliteDirectory(reader, writer);
  const pause = vi.fn(() => undefined);
  const page = { offset: 15, limit: 3 };
  const { records, total } = await directory.applications(tenantId, { ids: null, types: ['public'] }, page, pause);
  expect([total, records.map((record) => record.createdRevision)]).toEqual([23, [14, 12, 10]]);
  // Five parts of ten index entries, and the three records of the page.
  expect(pause).toHaveBeenCalledTimes(5 + 3);
});

test('an application that is deleted while the applications are read is left out', async () => {
  createDirectoryRowWriter(other).write(application([]));
  const deletion = other.prepare('UPDATE directory SET removed_at = 1');
  let pauses = 0;
  const page = { offset: 0, limit: 10 };
  const { records } = await sqliteDirectory(reader, writer).applications(
    tenantId,
    { ids: null, types: null },
    page,
    () => {
      pauses += 1;
      if (pauses === 2) deletion.run();
    },
  );
  expect(records).toEqual([]);
});

test('a failure to read the keys is reported as a failure of the file', async () => {
  createDirectoryRowWriter(other).write(application([newKey()]));
  const directory = sqliteDirectory(reader, writer);
  other.exec('DROP TABLE api_keys');
  await expect(directory.get('application', id)).rejects.toThrow('vault.db: SQLITE_ERROR');
});
