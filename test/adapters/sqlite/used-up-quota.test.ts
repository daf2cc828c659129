import fs, { readdirSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { constants } from 'node:os';
import { join } from 'node:path';
import { getSystemErrorName } from 'node:util';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { databaseError } from '#src/adapters/sqlite/database/database-error.js';
import { fileErrorCode } from '#src/compose/files/file-error-code.js';
import { tempDir } from '../../support/process.js';

type Name = 'EDQUOT' | 'EIO' | 'ENOSPC';

/** Returns an error as Node.js throws it. Node.js has no code for a used-up quota. */
function systemError(name: Name): Error {
  const errno = -constants.errno[name];
  return Object.assign(new Error('failed'), { errno, code: getSystemErrorName(errno) });
}

/** Lets every write to a new file fail with this error until the test ends. */
function failWrites(name: Name): void {
  const writes = vi.spyOn(fs, 'writeFileSync').mockImplementation(() => {
    throw systemError(name);
  });
  onTestFinished(() => {
    writes.mockRestore();
    syncBuiltinESMExports();
  });
  syncBuiltinESMExports();
}

test.each([
  ['EDQUOT', { name: 'StoreUnavailable', reason: 'full' }],
  ['ENOSPC', { name: 'StoreUnavailable', reason: 'full' }],
  ['EIO', { name: 'StoreBroken' }],
  [null, { name: 'StoreBroken' }],
] as const)('a failed write of SQLite while a write of another file ends with %s', (name, expected) => {
  const dir = tempDir();
  const path = join(dir, 'vault.db');
  writeFileSync(path, '');
  if (name !== null) failWrites(name);
  const failed = new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_WRITE');
  expect(databaseError(failed, 'vault.db', path)).toMatchObject(expected);
  expect(readdirSync(dir)).toEqual(['vault.db']);
});

test('a disk that fails while the cause of a failed write is looked for counts as broken', () => {
  const dir = tempDir();
  const path = join(dir, 'vault.db');
  writeFileSync(path, '');
  const removals = vi.spyOn(fs, 'rmSync').mockImplementation(() => {
    throw systemError('EIO');
  });
  onTestFinished(() => {
    removals.mockRestore();
    syncBuiltinESMExports();
  });
  syncBuiltinESMExports();
  const failed = new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_WRITE');
  expect(databaseError(failed, 'vault.db', path)).toMatchObject({ name: 'StoreBroken' });
});

test('commands name a used-up quota by its code', () => {
  expect(fileErrorCode(systemError('EDQUOT'))).toBe('EDQUOT');
  expect(fileErrorCode(systemError('EIO'))).toBe('EIO');
});
