import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { Month } from '../../shared/month.js';
import { damagedFile } from '../database/database-error.js';
import { openDatabase, type SqliteDatabase } from '../database/open-database.js';
import { expectVersion, versionInHeader } from '../database/prepare-file.js';
import { reading, readOnce } from '../database/reading.js';
import { isSequence, type JournalEnd } from '../journal/journal.js';
import { accessSchemaVersion } from './month-schema.js';

const shape = /^access-(\d{4}-\d{2})\.db$/;

export function monthFile(month: Month): string {
  return `access-${month}.db`;
}

/** Returns the months that have a file, oldest first. */
export function monthsOnDisk(dataDir: string): Month[] {
  return readdirSync(dataDir)
    .flatMap((name) => shape.exec(name)?.[1] ?? [])
    .sort();
}

/**
 * Returns a string that identifies the current file of a month, or null if the month has no file. After a file has been
 * moved or removed, entries can still be written through an open handle, but no reader will find them. Callers
 * therefore compare this string before each use of a handle. Throws StoreUnavailable if the path is not a file.
 */
export function fileIdentity(dataDir: string, month: Month): string | null {
  const found = statSync(join(dataDir, monthFile(month)), { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!found.isFile()) throw new StoreUnavailable('access log', 'not_a_file');
  return `${found.dev}:${found.ino}`;
}

/**
 * Returns a function that returns the newest batch in a month's file, or null if the file has no batch. The function
 * throws StoreBroken if the file is damaged.
 */
export function newestBatchOf(database: SqliteDatabase, month: Month): () => JournalEnd | null {
  const fileName = monthFile(month);
  const newest = reading(
    () => database.prepare('SELECT sequence, hash FROM batches ORDER BY sequence DESC LIMIT 1'),
    fileName,
  );
  return () => {
    const found = reading(() => newest.get() as JournalEnd | undefined, fileName);
    if (found !== undefined && !isSequence(found.sequence)) {
      throw damagedFile(fileName, `batch ${found.sequence} cannot exist`);
    }
    return found ?? null;
  };
}

/**
 * Throws StoreBroken if a month's file is empty. Strongroom gives a file its final name only when the file has its
 * tables, so an empty file has lost its content.
 */
export function expectNotEmpty(database: SqliteDatabase, fileName: string): void {
  if (database.pragma('user_version', { simple: true }) === 0) throw damagedFile(fileName);
}

/** Opens one month's file for reading. Throws StoreBroken if the file is empty or has a different version. */
export function openMonth(dataDir: string, month: Month): SqliteDatabase {
  const fileName = monthFile(month);
  return openDatabase(join(dataDir, fileName), fileName, 'reader', (database) => {
    expectNotEmpty(database, fileName);
    expectVersion(fileName, Number(database.pragma('user_version', { simple: true })), accessSchemaVersion);
  });
}

/** Opens one month's file as `openMonth` does, runs `read` on it, and closes it. */
export function readMonth<T>(dataDir: string, month: Month, read: (database: SqliteDatabase) => T): T {
  return readOnce(openMonth(dataDir, month), monthFile(month), read);
}

/**
 * Throws StoreBroken if a month's file has a different version. Does not report any other problem, because the rest of
 * the vault works without the access log.
 */
export function expectMonthVersions(dataDir: string): void {
  for (const month of monthsOnDisk(dataDir)) {
    const fileName = monthFile(month);
    const stored = versionInHeader(join(dataDir, fileName));
    if (stored !== null) expectVersion(fileName, stored, accessSchemaVersion);
  }
}
