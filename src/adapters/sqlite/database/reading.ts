import { join } from 'node:path';
import { databaseError } from './database-error.js';
import { openDatabase, type SqliteDatabase } from './open-database.js';

/** Runs `read` on a store file, and converts better-sqlite3 errors to our own errors, which name the file. */
export function reading<T>(read: () => T, fileName = 'vault.db'): T {
  try {
    return read();
  } catch (error) {
    throw databaseError(error, fileName);
  }
}

/** Opens a file of a data directory, runs `read` on it, and closes it. Another process may be writing to the file. */
export function readFile<T>(dataDir: string, fileName: string, read: (database: SqliteDatabase) => T): T {
  return readOnce(openDatabase(join(dataDir, fileName), fileName, 'reader'), fileName, read);
}

/** Runs `read` on an open database, and then closes the database. */
export function readOnce<T>(database: SqliteDatabase, fileName: string, read: (database: SqliteDatabase) => T): T {
  try {
    return reading(() => read(database), fileName);
  } finally {
    database.close();
  }
}
