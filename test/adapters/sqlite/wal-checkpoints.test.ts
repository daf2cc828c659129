import { spawn } from 'node:child_process';
import { readFileSync, truncateSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { type FromBackground, startBackground } from '#src/adapters/sqlite/writer/background.js';
import { prepareStores } from '#src/adapters/sqlite/writer/prepare-stores.js';
import { flushedPaths } from '../../support/flushed-paths.js';
import { tempDir } from '../../support/process.js';

/** Starts the background thread, and collects what it has done and its failures. */
function startCollecting(dataDir: string) {
  const done: FromBackground[] = [];
  const failures: unknown[] = [];
  const background = startBackground(
    dataDir,
    (each) => done.push(each),
    (error) => failures.push(error),
  );
  return { background, done, failures };
}

test.each(['vault.db', 'journal.db'] as const)(
  'another thread copies the write-ahead log into %s while the writer has the file open',
  async (file) => {
    const dataDir = tempDir();
    const { vault, keys, journal } = prepareStores(dataDir);
    const path = join(dataDir, file);
    const { 'vault.db': change, 'journal.db': append } = {
      'vault.db': `INSERT INTO claims VALUES ('copied-by-the-thread', 0, '', x'00'); UPDATE applied SET sequence = 7`,
      'journal.db': `INSERT INTO batches VALUES (1, x'00', x'00', 'copied-by-the-thread')`,
    };
    if (file === 'vault.db') vault.exec(change);
    else journal.exec(append);
    expect(readFileSync(path, 'latin1')).not.toContain('copied-by-the-thread');

    const done: FromBackground[] = [];
    const background = startBackground(
      dataDir,
      (each) => done.push(each),
      (error) => {
        throw error;
      },
    );
    await vi.waitFor(
      () => {
        background.note(file, 8 * 1024 * 1024);
        expect(readFileSync(path, 'latin1')).toContain('copied-by-the-thread');
      },
      { timeout: 30_000 },
    );
    await background.close();
    // A checkpoint of vault.db also reports the last journal group whose changes are durable in the file. Checkpoints
    // of other files report null.
    expect(done[0]).toEqual({ task: 'checkpoint', file, applied: file === 'vault.db' ? 7 : null });
    for (const database of [vault, keys, journal]) database.close();
  },
);

test('if a reader prevents a checkpoint when vault.db is opened, its write-ahead log is synced', async () => {
  const dataDir = tempDir();
  const before = prepareStores(dataDir);
  const reader = pinStatements(join(dataDir, 'vault.db'), { readonly: true });
  onTestFinished(() => void reader.close());
  before.vault.exec(`INSERT INTO claims VALUES ('before the reader', 0, '', x'00')`);
  reader.exec('BEGIN; SELECT count(*) FROM claims;');
  before.vault.exec(`INSERT INTO claims VALUES ('after the reader began', 0, '', x'00')`);
  for (const database of [before.vault, before.keys, before.journal]) database.close();

  const flushed = await flushedPaths((path) => basename(path));
  const { vault, keys, journal } = prepareStores(dataDir);
  expect(flushed).toEqual(['vault.db-wal']);
  expect(vault.prepare('SELECT count(*) FROM claims').pluck().get()).toBe(2);
  for (const database of [vault, keys, journal]) database.close();
});

test('a checkpoint that could not begin reports no group as durable, so that the journal keeps all of them', async () => {
  const dataDir = tempDir();
  const { vault, keys, journal } = prepareStores(dataDir);
  const path = join(dataDir, 'vault.db');
  const reader = pinStatements(path, { readonly: true });
  reader.exec('BEGIN; SELECT * FROM applied');
  vault.exec('UPDATE applied SET sequence = 7');
  // While a checkpoint waits for the reader, no other checkpoint can begin.
  const library = createRequire(import.meta.url).resolve('better-sqlite3');
  const waits = `new (require('${library}'))('${path}', { timeout: 100_000 }).pragma('wal_checkpoint(TRUNCATE)')`;
  const waiting = spawn(process.execPath, ['-e', waits], { stdio: 'ignore' });
  const ended = new Promise((resolve) => waiting.once('exit', resolve));
  onTestFinished(() => void waiting.kill('SIGKILL'));
  await vi.waitFor(() => expect(vault.pragma('wal_checkpoint(PASSIVE)')).toMatchObject([{ busy: 1 }]), 30_000);

  const done: FromBackground[] = [];
  const background = startBackground(
    dataDir,
    (each) => done.push(each),
    (error) => {
      throw error;
    },
  );
  background.note('vault.db', 1_000);
  await vi.waitFor(() => expect(done).toHaveLength(1), 30_000);
  expect(done).toEqual([{ task: 'checkpoint', file: 'vault.db', applied: null }]);
  await background.close();
  waiting.kill('SIGKILL');
  await ended;
  for (const database of [reader, vault, keys, journal]) database.close();
});

test.each(['vault.db', 'journal.db'] as const)(
  'a checkpoint of %s that fails because the file is broken is reported, so that the vault stops',
  async (file) => {
    const dataDir = tempDir();
    const { vault, keys, journal } = prepareStores(dataDir);
    const { background, done, failures } = startCollecting(dataDir);
    background.note(file, 8 * 1024 * 1024);
    await vi.waitFor(() => expect(done).toHaveLength(1), 30_000);
    vault.exec('UPDATE applied SET sequence = 7');
    journal.exec(`INSERT INTO batches VALUES (1, x'00', x'00', '')`);
    truncateSync(join(dataDir, `${file}-wal`));
    background.note(file, 8 * 1024 * 1024);
    await vi.waitFor(() => expect(failures).toHaveLength(1), 30_000);
    const message = expect.stringMatching(`^${file} is damaged: it or its write-ahead log was truncated`);
    expect(failures).toMatchObject([{ message }]);
    await background.close();
    for (const database of [vault, keys, journal]) database.close();
  },
);

test('a checkpoint of journal.db does not read vault.db, so it never reports damage of vault.db as its own', async () => {
  const dataDir = tempDir();
  const { vault, keys, journal } = prepareStores(dataDir);
  const { background, done, failures } = startCollecting(dataDir);
  vault.exec('UPDATE applied SET sequence = 7');
  truncateSync(join(dataDir, 'vault.db-wal'));
  background.note('journal.db', 8 * 1024 * 1024);
  await vi.waitFor(() => expect(done.length + failures.length).toBe(1), 30_000);
  expect(failures).toEqual([]);
  await background.close();
  for (const database of [vault, keys, journal]) database.close();
});
