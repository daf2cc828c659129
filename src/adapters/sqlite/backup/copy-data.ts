import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BackupRefused } from '../../../ports/backup.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { createBatchMover } from '../access-log/batch-mover.js';
import { monthFile, monthsOnDisk, readMonth } from '../access-log/month-files.js';
import { lockData } from '../data-lock.js';
import { databaseError } from '../database/database-error.js';
import { openDatabase, type SqliteDatabase } from '../database/open-database.js';
import { readFile } from '../database/reading.js';
import { endOf } from '../journal/journal.js';
import { appliedIn } from '../writer/complete-vault.js';
import { expectState } from '../writer/expect-state.js';
import { prepareStores } from '../writer/prepare-stores.js';

/**
 * Copies `vault.db` and the access log files. Even if another process writes to the files in the meantime, each copy is
 * a consistent snapshot of its file. The copies include everything that was in the journal when copying began, so the
 * journal itself is not copied. Returns the names of the copies. Throws StoreBroken, StoreUnavailable or BackupRefused.
 */
export function copyData(dataDir: string, to: string): readonly string[] {
  completeLeftVault(dataDir);
  readFile(dataDir, 'vault.db', (vault) => {
    copyDatabase(vault, to, 'vault.db', (copy) => {
      // Resets the recorded journal position in the copy, because a restored copy starts with a new journal.
      copy.exec('UPDATE applied SET sequence = 0, hash = zeroblob(32)');
    });
  });
  // Copies the access log after `vault.db`, so that it contains every batch that a copied checkpoint has signed.
  copyAccessLog(dataDir, to);
  const names = readdirSync(to);
  // If the disk is full, SQLite closes a copy without an error, and its newest pages stay in its write-ahead log.
  if (names.some((name) => name.endsWith('-wal'))) throw fullDisk();
  return names.filter((name) => name === 'vault.db' || /^access-[\d-]+\.db$/.test(name));
}

/**
 * Adds the newest journal groups to `vault.db` if they are missing there. They are missing if the power failed and the
 * vault has not been started since.
 */
function completeLeftVault(dataDir: string): void {
  if (!existsSync(join(dataDir, 'journal.db'))) return;
  // Reads the journal first. A running service writes each group to `vault.db` before the journal, so `vault.db` then
  // lacks a group only if no service is running.
  const end = readFile(dataDir, 'journal.db', (journal) => {
    expectState(journal, 'journal.db');
    return endOf(journal, 'groups').sequence;
  });
  const applied = readFile(dataDir, 'vault.db', (vault) => {
    expectState(vault, 'vault.db');
    return appliedIn(vault).sequence;
  });
  if (applied >= end) return;
  const lock = lockData(dataDir);
  if (lock === null) throw new BackupRefused('Strongroom is starting on this data. Try again once it is ready.');
  try {
    const { vault, keys, journal } = prepareStores(dataDir);
    for (const database of [vault, keys, journal]) database.close();
  } finally {
    lock.release();
  }
}

/** Copies the month files. Then adds the batches that are still in the journal to the copies. */
function copyAccessLog(dataDir: string, to: string): void {
  const copyMonths = (): void => {
    for (const month of monthsOnDisk(dataDir)) {
      readMonth(dataDir, month, (database) => copyDatabase(database, to, monthFile(month)));
    }
  };
  if (!existsSync(join(dataDir, 'journal.db'))) {
    copyMonths();
    return;
  }
  readFile(dataDir, 'journal.db', (journal) => {
    // Begins a read transaction. The transaction still sees the batches that the vault moves and removes while the
    // month files are copied.
    journal.exec('BEGIN');
    endOf(journal, 'batches');
    copyMonths();
    const mover = createBatchMover(journal, to);
    const moved = mover.move();
    mover.close();
    if (moved instanceof Error) throw copyError(moved);
    journal.exec('COMMIT');
  });
}

/** Copies a consistent snapshot of a database to a new file. The copy contains no traces of deleted data. */
function copyDatabase(
  database: SqliteDatabase,
  to: string,
  fileName: string,
  change: (copy: SqliteDatabase) => void = () => undefined,
): void {
  const path = join(to, fileName);
  try {
    database.prepare('VACUUM INTO ?').run(path);
    // Opening the copy for writing gives it the same journal mode as the original. A read-only connection cannot set
    // the mode.
    const copy = openDatabase(path, fileName, 'writer');
    try {
      change(copy);
    } finally {
      copy.close();
    }
  } catch (error) {
    throw copyError(databaseError(error, fileName, path));
  }
}

/**
 * Returns the error of an operation on a copy. If the disk of the copy is full, returns ENOSPC, because
 * `StoreUnavailable` would say that the disk of the vault is full.
 */
function copyError(error: unknown): unknown {
  const isFull = error instanceof StoreUnavailable && error.reason === 'full';
  return isFull ? fullDisk() : error;
}

function fullDisk(): Error {
  return Object.assign(new Error('the disk of the copy is full'), { code: 'ENOSPC' });
}
