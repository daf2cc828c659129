import { closeSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { type FoundProblem, filesCheck, StoreProblem } from '../../../ports/store-problem.js';
import { isQuotaUsedUp, StoreUnavailable } from '../../../ports/store-unavailable.js';

/**
 * Thrown when a store file cannot be used. The process exits with the error's message, which names the file and tells
 * the operator how to fix the problem.
 */
export class StoreBroken extends StoreProblem {
  constructor(problem: string | FoundProblem) {
    super(problem);
    this.name = 'StoreBroken';
  }
}

/**
 * Returns the error for a damaged store file. `detail` says how the file is damaged. The vault works without a month
 * file of the access log, so that the operator need not restore the whole directory.
 */
export function damagedFile(fileName: string, detail = ''): StoreBroken {
  const isMonthFile = fileName.startsWith('access-');
  return new StoreBroken({
    check: filesCheck,
    says: `${fileName} is damaged${detail === '' ? '' : `: ${detail}`}`,
    do: isMonthFile
      ? `Stop the service, move ${fileName} and its -wal and -shm files out of the data directory, and start the ` +
        `service again. If the newest backup contains ${fileName}, put that copy in its place. The access log then ` +
        'lacks the entries that are only in the damaged file'
      : 'Stop the service and restore the data directory from a backup',
  });
}

/**
 * Converts a better-sqlite3 error to one of our own errors. Drops the original error message, because it can contain
 * SQL. Specify the `path` of the database if the operation may have written to it.
 */
export function databaseError(error: unknown, fileName: string, path: string | null = null): Error {
  if (!(error instanceof Database.SqliteError)) {
    if (isOutOfDescriptors(error)) return new StoreUnavailable(fileName, 'no_file_descriptors');
    if (codeOf(error) === 'EIO') return diskFailed(fileName, 'EIO');
    return error instanceof Error ? error : new Error('not an error');
  }
  const { code } = error;
  // The write-ahead log's index also needs disk space. SHMSIZE means that this index could not grow.
  if (code.startsWith('SQLITE_FULL') || code === 'SQLITE_IOERR_SHMSIZE') return new StoreUnavailable(fileName, 'full');
  if (code === 'SQLITE_IOERR_WRITE' && path !== null && acceptsNoData(path)) {
    return new StoreUnavailable(fileName, 'full');
  }
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return new StoreUnavailable(fileName, 'busy');
  // SQLite does not report why it could not open a file. Opening another file here shows whether the process has run
  // out of file descriptors.
  if ((code.startsWith('SQLITE_CANTOPEN') || code.startsWith('SQLITE_IOERR')) && noneCanBeOpened()) {
    return new StoreUnavailable(fileName, 'no_file_descriptors');
  }
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return damagedFile(fileName);
  if (code === 'SQLITE_IOERR_SHORT_READ') return damagedFile(fileName, 'it or its write-ahead log was truncated');
  if (code.startsWith('SQLITE_CANTOPEN') || code.startsWith('SQLITE_READONLY') || code === 'SQLITE_PERM') {
    return new StoreBroken({
      check: filesCheck,
      says: `${fileName} cannot be opened for writing`,
      do: 'Check owner and permissions of the data directory',
    });
  }
  if (code.startsWith('SQLITE_IOERR')) return diskFailed(fileName, code);
  return new Error(`${fileName}: ${code}`);
}

function diskFailed(fileName: string, code: string): StoreBroken {
  return new StoreBroken({
    check: filesCheck,
    says: `the disk failed under ${fileName} (${code})`,
    do: 'Check the disk, then start again',
  });
}

function noneCanBeOpened(): boolean {
  try {
    closeSync(openSync(devNull, 'r'));
    return false;
  } catch (error) {
    return isOutOfDescriptors(error);
  }
}

/**
 * Returns true if the disk under the file is full, or the quota of this user is used up. SQLite reports a used-up quota
 * as a failed write, just like a broken disk. Writing another file here shows the cause.
 */
function acceptsNoData(path: string): boolean {
  try {
    const file = join(dirname(realpathSync(path)), 'space-check');
    try {
      writeFileSync(file, Buffer.alloc(checkSizeBytes), { mode: 0o600, flush: true });
    } finally {
      rmSync(file, { force: true });
    }
    return false;
  } catch (error) {
    return codeOf(error) === 'ENOSPC' || isQuotaUsedUp(error);
  }
}

/** More than file systems allocate at once, because the rest of an allocated block accepts data. */
const checkSizeBytes = 256 * 1024;

/** Returns true if the process or the machine has reached its limit on open files. */
function isOutOfDescriptors(error: unknown): boolean {
  return codeOf(error) === 'EMFILE' || codeOf(error) === 'ENFILE';
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}
