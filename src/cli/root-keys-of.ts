import { statSync } from 'node:fs';
import type { Config } from '../compose/config/config.js';
import { faultOfContainer } from '../compose/container.js';
import { dataDirectoryOf } from '../compose/open-profile.js';
import { holdsVault } from '../compose/root-key/holds-vault.js';
import { devRootKeyPath, readRootKeys, rootKeyPlaceOf } from '../compose/root-key/root-key-place.js';
import { Failure } from './failure.js';

/**
 * Throws Failure if this process runs in a container in an unsafe way, for example as root. Call it before the command
 * creates anything.
 */
export function expectSafeContainer(config: Config): void {
  const fault = faultOfContainer(config);
  if (fault !== null) throw new Failure(fault);
}

/**
 * What the root key is for, which determines the advice if there is no root key:
 * - `opening`: to open the data in this process.
 * - `command`: to run a command in this process, because no service is running.
 * - `restore`: to restore a backup.
 */
export type RootKeyUse = 'opening' | 'command' | 'restore';

/**
 * Returns the configured root key, followed by the next root key if a rotation is unfinished. Accepts the root key of
 * `--dev` data. `serve` without `--dev` rejects such data later. Throws Failure if a key cannot be read. If there is no
 * root key but there is already a vault or a backup, the message asks for the existing key: a new key cannot open it.
 */
export async function rootKeysOf(config: Config, use: RootKeyUse): Promise<readonly [Buffer, ...Buffer[]]> {
  expectSafeContainer(config);
  const place = rootKeyPlaceOf(config, use === 'restore' ? 'restore' : 'vault');
  const sealed = sealedData(config, use);
  if (place.named === null && place.command === null && sealed !== null) {
    const devFile = devRootKeyPath(config.settings.data);
    const absent =
      use === 'restore' ? '' : ` If --dev created this data, its root key was in ${devFile}, which does not exist.`;
    const service = use === 'command' ? ' While the service is running, this command needs no root key.' : '';
    throw new Failure(
      `no root key is set. ${sealed} can be opened only with the root key of its vault. Set root_key_file ` +
        `(STRONGROOM_ROOT_KEY_FILE, --root-key-file) to the path of that key.${service}${absent}`,
    );
  }
  const read = await readRootKeys(place);
  if (read.ok) return read.keys;
  if (sealed === null || place.file === null || !isAbsent(place.file)) throw new Failure(read.message);
  throw new Failure(
    `the root key file ${place.named} does not exist. ${sealed} can be opened only with the root key of its vault. ` +
      'Put a copy of that key there, or set root_key_file to its path.',
  );
}

/**
 * Calls `work` with the root keys that `rootKeysOf` returns, and erases them when `work` is done. Work that still needs
 * a root key after that, such as an open store, must copy it.
 */
export async function withRootKeys<T>(
  config: Config,
  use: RootKeyUse,
  work: (rootKeys: readonly [Buffer, ...Buffer[]]) => Promise<T>,
): Promise<T> {
  const rootKeys = await rootKeysOf(config, use);
  try {
    return await work(rootKeys);
  } finally {
    for (const rootKey of rootKeys) rootKey.fill(0);
  }
}

/** Returns whether there is no such file. Returns false if this user may not look it up. */
export function isAbsent(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** Returns what the root key must open, as the subject of a sentence. Returns null if the root key may be a new one. */
function sealedData(config: Config, use: RootKeyUse): string | null {
  if (use === 'restore') return 'A backup';
  const dataDir = dataDirectoryOf(config);
  return dataDir !== null && holdsVault(dataDir) ? `The data in ${dataDir}` : null;
}
