import { databaseError } from './database-error.js';

/** Runs `read` on a store file, and converts better-sqlite3 errors to our own errors. */
export function reading<T>(read: () => T, fileName: 'vault.db' | 'keys.db' = 'vault.db'): T {
  try {
    return read();
  } catch (error) {
    throw databaseError(error, fileName);
  }
}
