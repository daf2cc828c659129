import { join } from 'node:path';
import { openDatabase } from './database/open-database.js';
import { reading } from './database/reading.js';

/**
 * Returns the root check in the `keys.db` of a data directory, or null if it has none yet. A service may have the file
 * open at the same time.
 */
export function readRootCheck(dataDir: string): Buffer | null {
  const database = openDatabase(join(dataDir, 'keys.db'), 'keys.db', 'reader');
  try {
    const check = database.prepare(`SELECT value FROM meta WHERE name = 'root_check'`).pluck();
    return reading(() => check.get() as Buffer | undefined, 'keys.db') ?? null;
  } finally {
    database.close();
  }
}
