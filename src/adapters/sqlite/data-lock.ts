import { type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { databaseError, StoreBroken } from './database/database-error.js';
import { pinStatements } from './database/pin-statements.js';

/** How often a process checks that the lock file is still the file that it locked, in ms. */
const watchMs = 500;
/** How many checks in a row must find another file. A network file system can fail to find a file once. */
const missesMax = 2;

/**
 * Locks a directory that contains databases of a vault. The lock is an exclusive SQLite transaction that stays open on
 * a separate file until the lock is released. The operating system releases the lock when the process ends, even after a
 * crash. Returns null if another process holds the lock.
 *
 * Calls `onLost` once if the lock file is removed or replaced. Threat: the file looks like a leftover and is removed.
 * Another process can then lock a new file, and this process would return data that the other process has erased.
 */
export function lockData(
  dataDir: string,
  onLost: (error: StoreBroken) => void = () => undefined,
): { release(): void } | null {
  const path = join(dataDir, 'lock');
  let database: Database.Database | null = null;
  let locked: Stats;
  try {
    database = pinStatements(path, { timeout: 0 });
    database.pragma('journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
    locked = statSync(path);
  } catch (error) {
    database?.close();
    const translated = databaseError(error, 'the lock file of the data directory');
    if (translated instanceof StoreUnavailable && translated.reason === 'busy') return null;
    throw translated;
  }
  const held = database;
  let misses = 0;
  const watch = setInterval(() => {
    misses = isReplaced(path, locked) ? misses + 1 : 0;
    if (misses < missesMax) return;
    clearInterval(watch);
    onLost(
      new StoreBroken({
        check: 'lock',
        says:
          `${path} was removed or replaced while a process was using the directory, so another process can use it ` +
          'too',
        do: 'Make sure that no other process uses the directory, then start again',
      }),
    );
  }, watchMs).unref();
  return {
    release(): void {
      clearInterval(watch);
      held.close();
    },
  };
}

/** Returns true if the path no longer leads to the file with these stats. Returns false if that is not known. */
function isReplaced(path: string, { dev, ino }: Stats): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.ino !== ino || found.dev !== dev;
  } catch {
    return false;
  }
}
