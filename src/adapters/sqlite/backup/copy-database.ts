import { databaseError } from '../database/database-error.js';
import { openDatabase } from '../database/open-database.js';

/**
 * Copies a database as it is at one moment to a new file, while another process writes to it. What was removed from it is
 * not in the copy. Throws StoreBroken and StoreUnavailable.
 */
export function copyDatabase(from: string, to: string, fileName: string): void {
  const database = openDatabase(from, fileName, 'reader');
  try {
    database.prepare('VACUUM INTO ?').run(to);
    // Opening it to write makes its journal that of the original, which who only reads a file cannot do.
    openDatabase(to, fileName, 'writer').close();
  } catch (error) {
    throw databaseError(error, fileName);
  } finally {
    database.close();
  }
}
