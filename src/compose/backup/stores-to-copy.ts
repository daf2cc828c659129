import { keysDatabase } from '../../adapters/mongodb/key-store/key-collections.js';
import { copyData } from '../../adapters/sqlite/backup/copy-data.js';
import { openKeysToCopy } from '../../adapters/sqlite/backup/copy-keys.js';
import { BackupRefused, type KeysToCopy } from '../../ports/backup.js';
import type { Config } from '../config/config.js';
import { storeUrls } from '../config/store-urls.js';
import { faultOfContent } from '../embedded/data-directory.js';

/** Returns the name of the database that contains the keys in the cluster profile. */
export function keysDatabaseOf({ settings }: Config): string {
  return keysDatabase(settings['mongodb.database']);
}

/**
 * Opens the configured key store for reading. Other processes can use the key store at the same time. The root key is
 * not needed. Throws StoreProblem if an address in the settings cannot be used, and BackupRefused if the data directory
 * is a backup or contains an unfinished restore.
 */
export async function keysToCopy(config: Config): Promise<KeysToCopy> {
  if (config.settings.profile === 'embedded') {
    const fault = faultOfContent(config.settings.data);
    if (fault !== null) throw new BackupRefused(fault);
    return openKeysToCopy(config.settings.data);
  }
  const { keys } = storeUrls(config);
  // We load this module on demand, because loading it takes longer than the rest of the command.
  const { openMongoKeysToCopy } = await import('../../adapters/mongodb/backup/copy-mongo-keys.js');
  return openMongoKeysToCopy(keys, keysDatabaseOf(config));
}

/**
 * Copies a consistent snapshot of the log and its rows, and a separate snapshot of the access log. Returns the names of
 * the copied files. In the cluster profile, copies nothing, because operators back up each server with its own tools.
 */
export function copyStoreFiles({ settings }: Config, to: string): readonly string[] {
  if (settings.profile !== 'embedded') return [];
  return copyData(settings.data, to);
}
