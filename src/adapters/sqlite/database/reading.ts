import { databaseError } from './database-error.js';

/** Runs a read of a store file, and translates errors from better-sqlite3. */
export function reading<T>(read: () => T, fileName: 'vault.db' | 'keys.db' = 'vault.db'): T {
  try {
    return read();
  } catch (error) {
    throw databaseError(error, fileName);
  }
}
