import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { databaseError } from './database/database-error.js';
import { pinStatements } from './database/pin-statements.js';

/**
 * Locks a data directory. The lock is an exclusive SQLite transaction that stays open on a separate file until the lock
 * is released. The operating system releases the lock when the process ends, even after a crash. Returns null if
 * another process holds the lock.
 */
export function lockData(dataDir: string): { release(): void } | null {
  let database: Database.Database | null = null;
  try {
    database = pinStatements(join(dataDir, 'lock'), { timeout: 0 });
    database.pragma('journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database?.close();
    const translated = databaseError(error, 'the lock file of the data directory');
    if (translated instanceof StoreUnavailable && translated.reason === 'busy') return null;
    throw translated;
  }
  const held = database;
  return { release: () => void held.close() };
}
