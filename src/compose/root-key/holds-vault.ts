import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The databases of a vault in its data directory. */
export const databases = ['keys.db', 'vault.db', 'journal.db'];

/**
 * A subdirectory of the data directory in which `restore` collects the vault's files. It exists until the restore is
 * complete. As long as it exists, no other command uses the data directory.
 */
export const restoringName = '.restoring';

/**
 * Returns true if the directory contains a vault, or what is left of one. Only the vault's current root key can open
 * it.
 */
export function holdsVault(dataDir: string): boolean {
  return [...databases, restoringName].some((file) => existsSync(join(dataDir, file)));
}
