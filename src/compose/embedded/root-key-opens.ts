import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readRootCheck } from '../../adapters/sqlite/root-check.js';
import { passesRootCheck } from '../../keys/root-keys.js';

/**
 * Returns true if one of the root keys opens the keys in the data directory, and false if none of them does. A service
 * may have the data directory open at the same time. Returns null if the directory contains no keys, or if its keys
 * cannot be read. In the latter case, opening the stores reports why.
 */
export function rootKeyOpens(dataDir: string, rootKeys: readonly Buffer[]): boolean | null {
  if (!existsSync(join(dataDir, 'keys.db'))) return null;
  try {
    const check = readRootCheck(dataDir);
    return check === null ? null : rootKeys.some((rootKey) => passesRootCheck(rootKey, check));
  } catch {
    return null;
  }
}
