import { copyData } from '../../adapters/sqlite/backup/copy-data.js';
import { openKeysToCopy } from '../../adapters/sqlite/backup/copy-keys.js';
import { BackupRefused, type KeysToCopy } from '../../ports/backup.js';
import type { Config } from '../config/config.js';
import { storeUrls } from '../config/store-urls.js';

/** Returns the name of the key store's database in the cluster profile. */
export function keysDatabaseOf({ settings }: Config): string {
  return `${settings['mongodb.database']}_keys`;
}

/** Opens the configured key store for reading while other processes use it. Needs no root key. */
export async function keysToCopy(config: Config): Promise<KeysToCopy> {
  if (config.settings.profile === 'embedded') return openKeysToCopy(config.settings.data);
  const stores = storeUrls(config);
  if (!stores.ok) throw new BackupRefused(stores.problems.join('\n'));
  // Loaded on demand, because loading takes longer than the rest of the command.
  const { openMongoKeysToCopy } = await import('../../adapters/mongodb/backup/copy-mongo-keys.js');
  return openMongoKeysToCopy(stores.urls.keys, keysDatabaseOf(config));
}

/**
 * Copies a consistent snapshot of the log with its rows, and another of the access log. Returns the names of the
 * copies. Copies nothing in the cluster profile, where the servers' own tools copy their data.
 */
export function copyStoreFiles({ settings }: Config, to: string): readonly string[] {
  if (settings.profile !== 'embedded') return [];
  return copyData(settings.data, to);
}
