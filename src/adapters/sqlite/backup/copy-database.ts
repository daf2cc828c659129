import { databaseError } from '../database-error.js';
import { keptDatabase } from '../kept-database.js';

/**
 * Copies a database as it is at one moment to a new file, while another process writes to it. What was removed from it is
 * not in the copy. Throws StoreBroken and StoreUnavailable.
 */
export function copyDatabase(from: string, to: string, fileName: string): void {
  const database = keptDatabase(from, { readonly: true, timeout: 5_000 });
  try {
    database.prepare('VACUUM INTO ?').run(to);
    // As the original: what only reads a file cannot set that.
    const copy = keptDatabase(to, {});
    copy.pragma('journal_mode = WAL');
    copy.close();
  } catch (error) {
    throw databaseError(error, fileName);
  } finally {
    database.close();
  }
}
