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
  writer = await startWriter(dataDir, () => undefined);
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
      const page = await directory.applications(tenantId, { ids: null, types: null }, { offset: 0, limit: 10 });
      return page.records[0];
    },
  };
  for (const [name, find] of Object.entries(read)) {
    const expected = keys.map((key) => key.hash).sort();
    const found = await find();
    expect([name, found?.revision, found?.keys.map(({ hash }) => hash).sort()]).toEqual([
      name,
      expected.length,
      expected,
    ]);
  }
});

test('a failure to read the keys is reported as a failure of the file', async () => {
  createDirectoryRowWriter(other).write(application([newKey()]));
  const directory = sqliteDirectory(reader, writer);
  other.exec('DROP TABLE api_keys');
  await expect(directory.get('application', id)).rejects.toThrow('vault.db: SQLITE_ERROR');
});
