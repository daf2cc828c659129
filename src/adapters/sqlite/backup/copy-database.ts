import { databaseError } from '../database/database-error.js';
import { openDatabase } from '../database/open-database.js';

/**
 * Copies a database as of one moment to a new file, while another process may write to it. The copy contains no removed
 * data. Throws StoreBroken and StoreUnavailable.
 */
export function copyDatabase(from: string, to: string, fileName: string): void {
  const database = openDatabase(from, fileName, 'reader');
  try {
    database.prepare('VACUUM INTO ?').run(to);
    // Opening the copy for writing sets its journal mode to that of the original. A reader cannot set it.
    openDatabase(to, fileName, 'writer').close();
  } catch (error) {
    throw databaseError(error, fileName);
  } finally {
    database.close();
  }
}
