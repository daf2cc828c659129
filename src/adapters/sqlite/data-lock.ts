import { join } from 'node:path';
import Database from 'better-sqlite3';

/**
 * The lock on a data directory: an exclusive transaction on a file of its own, held for the life of the process. The
 * operating system gives it back when the process ends, however it ends. Null: another process holds it.
 */
export function lockData(dataDir: string): { release(): void } | null {
  const database = new Database(join(dataDir, 'lock'), { timeout: 0 });
  try {
    database.pragma('journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return null;
    throw error;
  }
  return { release: () => void database.close() };
}
