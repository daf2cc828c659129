import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openDatabase } from '#src/adapters/sqlite/database/open-database.js';
import { startWalCheckpoints, type WalCheckpoints } from '#src/adapters/sqlite/writer/wal-checkpoints.js';
import { tempDir } from '../../support/process.js';

const enough = 1_000;

/** Opens a new file as the writer does, and stores a text that is only in its write-ahead log. */
function storeInLog(path: string, text: string) {
  const database = openDatabase(path, 'vault.db', 'writer');
  database.exec(`CREATE TABLE texts (text TEXT)`);
  database.prepare('INSERT INTO texts VALUES (?)').run(text);
  expect(readFileSync(path, 'latin1')).not.toContain(text);
  return database;
}

async function untilCopied(checkpoints: WalCheckpoints, path: string, identity: string, text: string): Promise<void> {
  await vi.waitFor(
    () => {
      checkpoints.note({ of: 'vault.db', path, identity }, enough);
      expect(readFileSync(path, 'latin1')).toContain(text);
    },
    { timeout: 10_000 },
  );
}

test('another thread copies the write-ahead log into the file while the writer has it open', async () => {
  const path = join(tempDir(), 'vault.db');
  const database = storeInLog(path, 'copied-by-the-thread');
  const checkpoints = startWalCheckpoints();
  await untilCopied(checkpoints, path, 'first', 'copied-by-the-thread');
  await checkpoints.close();
  database.close();
});

test('a file that replaced another one is copied, too', async () => {
  const path = join(tempDir(), 'access.db');
  const first = storeInLog(path, 'in-the-first-file');
  const checkpoints = startWalCheckpoints();
  await untilCopied(checkpoints, path, 'first', 'in-the-first-file');
  first.close();
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, `${path}.moved${suffix}`);
  }
  const second = storeInLog(path, 'in-the-second-file');
  await untilCopied(checkpoints, path, 'second', 'in-the-second-file');
  await checkpoints.close();
  second.close();
});

test('a checkpoint of a removed file does not create it', async () => {
  const path = join(tempDir(), 'access.db');
  storeInLog(path, 'gone').close();
  rmSync(path);
  const checkpoints = startWalCheckpoints();
  checkpoints.note({ of: 'access log', path, identity: 'removed' }, enough);
  await checkpoints.close();
  expect(existsSync(path)).toBe(false);
});
