import { readFile } from './database/reading.js';

/**
 * Returns the root check in the `keys.db` of a data directory, or null if it has none yet. A service may have the file
 * open at the same time.
 */
export function readRootCheck(dataDir: string): Buffer | null {
  return readFile(dataDir, 'keys.db', (keys) => {
    const check = keys.prepare(`SELECT value FROM meta WHERE name = 'root_check'`).pluck();
    return (check.get() as Buffer | undefined) ?? null;
  });
}
