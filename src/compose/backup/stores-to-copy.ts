import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openKeysToCopy } from '../../adapters/sqlite/backup/copy-keys.js';
import { BackupRefused, type KeysToCopy } from '../../ports/backup.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { Config } from '../config/config.js';
import { storeUrls } from '../config/store-urls.js';
import { faultOfBackup } from '../embedded/data-directory.js';
import type { CopyResult } from './copy-process.js';

/** Returns the name of the database that contains the keys in the cluster profile. */
export function keysDatabaseOf({ settings }: Config): string {
  return `${settings['mongodb.database']}_keys`;
}

/**
 * Opens the configured key store for reading. Other processes can use the key store at the same time. The root key is
 * not needed. Throws BackupRefused if the settings name no key store.
 */
export async function keysToCopy(config: Config): Promise<KeysToCopy> {
  if (config.settings.profile === 'embedded') {
    const backup = faultOfBackup(config.settings.data);
    if (backup !== null) throw new BackupRefused(backup);
    return openKeysToCopy(config.settings.data);
  }
  const stores = storeUrls(config);
  if (!stores.ok) throw new BackupRefused(stores.problems.join('\n'));
  // We load this module on demand, because loading it takes longer than the rest of the command.
  const { openMongoKeysToCopy } = await import('../../adapters/mongodb/backup/copy-mongo-keys.js');
  return openMongoKeysToCopy(stores.urls.keys, keysDatabaseOf(config));
}

/**
 * Copies a consistent snapshot of the log and its rows, and a separate snapshot of the access log. Returns the names of
 * the copied files. In the cluster profile, copies nothing, because operators back up each server with its own tools.
 *
 * Copies in a separate process. SQLite copies a file in one step, during which a thread cannot handle a signal. If
 * `signal` is aborted, kills the process, and throws the signal's reason once the process can write no more files.
 */
export async function copyStoreFiles(
  { settings }: Config,
  to: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (settings.profile !== 'embedded') return [];
  signal.throwIfAborted();
  // A detached process does not receive the signal that a terminal sends to all processes of a command.
  const child = fork(fileURLToPath(new URL('./copy-process.js', import.meta.url)), [settings.data, to], {
    detached: true,
  });
  const results: CopyResult[] = [];
  child.on('message', (message) => results.push(message as CopyResult));
  const kill = () => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  try {
    await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
  } finally {
    signal.removeEventListener('abort', kill);
  }
  signal.throwIfAborted();
  const [result] = results;
  if (result === undefined) throw new Error('the process that copies the files ended unexpectedly');
  if (result.ok) return result.names;
  throw errorOf(result.error);
}

function errorOf(error: Extract<CopyResult, { ok: false }>['error']): Error {
  if (error.is === 'problem') return new BackupRefused(error.message);
  if (error.is === 'unavailable') return new StoreUnavailable(error.store, error.reason, error.found);
  return Object.assign(new Error(`the files could not be copied: ${error.name}`), { code: error.code });
}
