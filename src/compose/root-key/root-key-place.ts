import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../config/config.js';
import { realPath } from '../files/real-path.js';
import { holdsVault } from './holds-vault.js';
import { readKeyFile } from './read-key-file.js';
import { loadRootKey } from './root-key.js';

/** Where the root key comes from, and where the next root key is stored during a rotation. */
export type RootKeyPlace = {
  /** The path as it is written in the settings. Other users must not be able to change which file it refers to. */
  readonly named: string | null;
  /** The same path with its symbolic links resolved. A rotation overwrites this file. */
  readonly file: string | null;
  readonly command: readonly [string, ...string[]] | null;
  readonly nextFile: string | null;
  readonly dataDir: string;
  /** True for data created by `--dev`. */
  readonly isDev: boolean;
};

export type RootKeysResult =
  | { readonly ok: true; readonly keys: readonly [Buffer, ...Buffer[]] }
  | { readonly ok: false; readonly message: string };

/**
 * Returns the absolute path of the root key for `--dev` data. The key is next to the data directory. For example, the
 * key for `./data` is `./data.root-key`.
 */
export function devRootKeyPath(dataDir: string): string {
  return `${resolve(dataDir)}.root-key`;
}

/**
 * Returns the source of the root key specified by the settings. For `--dev` data, the default is the development key
 * file next to the data directory. Without `--dev`, this file is used only if there is a vault, or if `use` is
 * `restore`. Otherwise, a new vault for real data would adopt a file that is left over from earlier `--dev` data. A
 * restore opens the backup with the key, so it cannot adopt the key of other data.
 */
export function rootKeyPlaceOf({ settings }: Config, use: 'vault' | 'restore' = 'vault'): RootKeyPlace {
  const { data: dataDir, root_key_command: command } = settings;
  const devFile = devRootKeyPath(dataDir);
  const isOld = settings.profile === 'embedded' && (use === 'restore' || holdsVault(dataDir));
  const named =
    settings.root_key_file ?? (command === null && (settings.dev || isOld) && existsSync(devFile) ? devFile : null);
  const file = named === null ? null : realPath(named);
  const nextFile = settings.next_root_key_file ?? (file === null ? null : `${file}.new`);
  return { named, file, command, nextFile, dataDir, isDev: settings.dev || named === devFile };
}

/**
 * Returns the root key. If the next root key exists, returns it as the second key. An interrupted rotation may already
 * have wrapped all keys under the next root key, and may have overwritten only part of the old root key's file. The
 * caller must zero each key.
 */
export async function readRootKeys({
  named,
  command,
  nextFile,
  dataDir,
  isDev,
}: RootKeyPlace): Promise<RootKeysResult> {
  const present = await loadRootKey({ file: named, command, dataDir, isDev });
  const next = nextFile !== null && existsSync(nextFile) ? readKeyFile(nextFile, dataDir, isDev) : null;
  if (next?.ok !== true) return present.ok ? { ok: true, keys: [present.key] } : present;
  return { ok: true, keys: present.ok ? [present.key, next.key] : [next.key] };
}
