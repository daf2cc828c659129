import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { databaseError } from './database/database-error.js';
import { keptDatabase } from './database/kept-database.js';

/**
 * The lock on a data directory: an exclusive transaction on a file of its own, held for the life of the process. The
 * operating system gives it back when the process ends, however it ends. Null: another process holds it.
 */
export function lockData(dataDir: string): { release(): void } | null {
  let database: Database.Database | null = null;
  try {
    database = keptDatabase(join(dataDir, 'lock'), { timeout: 0 });
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
