import { databaseError } from './database-error.js';

/** Runs a read of a store file, and converts errors from better-sqlite3 to our own errors. */
export function reading<T>(read: () => T, fileName: 'vault.db' | 'keys.db' = 'vault.db'): T {
  try {
    return read();
  } catch (error) {
    throw databaseError(error, fileName);
  }
}
