import { databaseError } from './database-error.js';

/** Runs `read` on a store file, and converts better-sqlite3 errors to our own errors, which name the file. */
export function reading<T>(read: () => T, fileName = 'vault.db'): T {
  try {
    return read();
  } catch (error) {
    throw databaseError(error, fileName);
  }
}
