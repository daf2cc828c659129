import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreBroken } from '#src/adapters/sqlite/database/database-error.js';
import { createGroupCommit } from '#src/adapters/sqlite/database/group-commit.js';
import { openDatabase, type SqliteDatabase } from '#src/adapters/sqlite/database/open-database.js';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { truncating } from '#src/adapters/sqlite/writer/erasure.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { change, noTokenYet, tokenCreated, tokenWrite } from '../../contract/support.js';
import { filesOf } from '../../erasure/files.js';
import { startTestService } from '../../support/test-service.js';

describe('a group of commands', () => {
  const schema = 'CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB) STRICT';
  let folder: string;
  let database: SqliteDatabase;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strongroom-group-'));
    database = openDatabase(join(folder, 'test.db'), 'test.db', 'writer');
    database.exec(schema);
  });
  afterEach(async () => {
    database.close();
    await rm(folder, { recursive: true });
  });

  const put =
    (a: unknown, b: unknown = null) =>
    () =>
      database.prepare('INSERT INTO t VALUES (?, ?)').run(a, b).changes;
  const stored = () => database.prepare('SELECT a FROM t ORDER BY a').pluck().all();
  const run = (...works: (() => unknown)[]) => createGroupCommit(database, 'test.db', schema)(works);

  test('a command that cannot be stored leaves no partial change and does not affect the other commands', () => {
    const half = () => {
      put(100)();
      return put(1)();
    };
    const unbindable = put(5, { not: 'bindable' });
    const attempts = run(put(1), half, put(2), unbindable, put(3));
    expect(attempts.map(({ ok }) => ok)).toEqual([true, false, true, false, true]);
    expect(stored()).toEqual([1, 2, 3]);
    for (const attempt of attempts) if (!attempt.ok) expect(attempt.error).not.toBeInstanceOf(StoreUnavailable);
  });

  test('an error contains none of the command’s data', () => {
    const [attempt] = run(put('marker-4242'));
    expect(attempt?.ok).toBe(false);
    expect(String(attempt?.ok === false && attempt.error)).not.toContain('marker');
  });

  test('a damaged file stops the writer, and no part of the group is stored', () => {
    const damaged = () => {
      throw new Database.SqliteError('database disk image is malformed', 'SQLITE_CORRUPT');
    };
    expect(() => run(put(1), damaged, put(2))).toThrow(StoreBroken);
    expect(stored()).toEqual([]);
    expect(database.inTransaction).toBe(false);
  });

  test('while another connection writes, the whole group fails as unavailable, and the next group is stored', () => {
    const other = pinStatements(join(folder, 'test.db'), {});
    other.exec('BEGIN IMMEDIATE');
    for (const attempt of run(put(1), put(2))) expect(attempt).toMatchObject({ ok: false, error: { reason: 'busy' } });
    other.exec('ROLLBACK');
    other.close();
    expect(run(put(1), put(2)).map(({ ok }) => ok)).toEqual([true, true]);
  });

  test('a write without free space fails as unavailable and stores nothing; once there is space, writes work again', () => {
    run(put(1));
    database.pragma(`max_page_count = ${Number(database.pragma('page_count', { simple: true })) + 2}`);
    const large = Buffer.alloc(100_000);
    const full = run(put(2), put(3, large), put(4));
    const refused = full.filter(({ ok }) => !ok);
    expect(refused.length).toBeGreaterThan(0);
    for (const attempt of refused)
      expect(attempt).toMatchObject({ ok: false, error: { store: 'test.db', reason: 'full' } });
    const kept = [2, 3, 4].filter((_, index) => full[index]?.ok);
    expect(stored()).toEqual([1, ...kept]);
    expect(database.inTransaction).toBe(false);
    database.pragma('max_page_count = 1000000');
    expect(run(put(7, large)).map(({ ok }) => ok)).toEqual([true]);
    expect(stored()).toContain(7);
  });

  test('the write-ahead log counts as emptied only if no reader prevented it', () => {
    run(put(1));
    const other = pinStatements(join(folder, 'test.db'), { readonly: true });
    other.exec('BEGIN');
    other.prepare('SELECT * FROM t').all();
    run(put(2));
    expect(truncating(database, 'test.db')).toMatchObject({ reason: 'busy' });
    other.close();
    expect(truncating(database, 'test.db')).toBeNull();
  });
});

/**
 * Counts the transactions in a file's write-ahead log. The last frame of a transaction contains the size of the
 * database. All other frames contain 0 in its place (sqlite.org/fileformat2).
 */
function commitsIn(log: Buffer): number {
  const frameBytes = 24 + log.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    if (log.compare(log, 16, 24, at + 8, at + 16) === 0 && log.readUInt32BE(at + 4) !== 0) commits += 1;
  }
  return commits;
}

test('commands that arrive together share transactions', async () => {
  const service = await startTestService();
  const log = () => filesOf(service.dataDir).find(({ name }) => name === 'vault.db-wal')?.content ?? Buffer.alloc(0);
  // While a reader uses an older state, SQLite only appends to the write-ahead log. Without such a reader, SQLite might
  // start over at the beginning of the log, and the count would be wrong.
  const reader = pinStatements(join(service.dataDir, 'vault.db'), { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM events').get();
  const before = commitsIn(log());
  const writes = Array.from({ length: 150 }, () => tokenWrite(noTokenYet(), [tokenCreated()]));
  const outcomes = await Promise.all(writes.map((write) => service.vault.work.commit(change(write))));
  expect(outcomes.every(({ outcome }) => outcome === 'committed')).toBe(true);
  const together = commitsIn(log()) - before;
  expect(together).toBeGreaterThan(0);
  expect(together).toBeLessThan(30);
  for (let count = 0; count < 10; count += 1) {
    await service.vault.work.commit(change(tokenWrite(noTokenYet(), [tokenCreated()])));
  }
  expect(commitsIn(log()) - before - together, 'one after the other: a transaction each').toBe(10);
  reader.close();
  await service.close();
});
