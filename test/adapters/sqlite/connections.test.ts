import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '#src/adapters/sqlite/database/open-database.js';
import { prepareStores } from '#src/adapters/sqlite/writer/prepare-stores.js';
import { tamper } from '../../erasure/support.js';
import { startTestService, type TestService } from '../../support/test-service.js';

/**
 * The SQLite settings that our guarantees depend on (docs/design.md, "SQLite"), with the values that SQLite must
 * report.
 */
const settings = {
  journal_mode: 'wal',
  synchronous: 2,
  secure_delete: 1,
  temp_store: 2,
  cell_size_check: 1,
  trusted_schema: 0,
};

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'strongroom-connections-'));
});
afterAll(() => rm(dataDir, { recursive: true }));

test('every connection, whether it reads or writes, has every setting', () => {
  const { vault, keys, journal } = prepareStores(dataDir);
  const readers = ['vault.db', 'keys.db', 'journal.db'].map((file) =>
    openDatabase(join(dataDir, file), file, 'reader'),
  );
  for (const database of [vault, keys, journal, ...readers]) {
    // The journal makes commits to vault.db durable, so vault.db itself is synced only at checkpoints.
    const expected = { ...settings, synchronous: database === vault ? 1 : 2 };
    for (const [pragma, value] of Object.entries(expected)) {
      expect([pragma, database.pragma(pragma, { simple: true })]).toEqual([pragma, value]);
    }
    expect(database.pragma('mmap_size', { simple: true }) ?? 0).toBe(0);
    database.close();
  }
});

test('a reader cannot write', () => {
  const reader = openDatabase(join(dataDir, 'vault.db'), 'vault.db', 'reader');
  expect(() => reader.exec('DELETE FROM meta')).toThrow();
  reader.close();
});

test('a limit that makes SQLite plan its statement again on each execution is rejected', () => {
  const reader = openDatabase(join(dataDir, 'vault.db'), 'vault.db', 'reader');
  for (const limit of ['?', '@limit', ':limit', '$limit', '?1']) {
    expect(() => reader.prepare(`SELECT position FROM events LIMIT ${limit}`), limit).toThrow('add zero to it');
  }
  for (const limit of ['? + 0', '@limit + 0', '1']) reader.prepare(`SELECT position FROM events LIMIT ${limit}`);
  reader.close();
});

test('only one place in the code opens store files, with their settings, and only one other place opens the lock file', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const opening = /new Database\(|pinStatements\(/;
  const openers = sources.filter((path) => opening.test(readFileSync(join('src', path), 'utf8')));
  const allowed = ['data-lock.ts', 'database/pin-statements.ts', 'database/open-database.ts'].map(
    (file) => `adapters/sqlite/${file}`,
  );
  expect(openers.filter((path) => !allowed.includes(path))).toEqual([]);
  expect(openers).toContain('adapters/sqlite/data-lock.ts');
});

test('the log rejects updates and deletes on every connection', async () => {
  const service: TestService = await startTestService();
  const change = (statement: string) => tamper(service.dataDir, 'vault.db', statement);
  expect(() => change(`UPDATE events SET actor = 'another'`)).toThrow('append only');
  expect(() => change(`UPDATE events SET clear = '{}' WHERE position = 1`)).toThrow('append only');
  expect(() => change('DELETE FROM events WHERE position = 1')).toThrow('append only');
  expect(() => change('DELETE FROM events')).toThrow('append only');
  await service.close();
});
