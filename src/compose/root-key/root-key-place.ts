import { existsSync } from 'node:fs';
import type { Config } from '../config/config.js';
import { devRootKeyPath } from './dev-root-key-path.js';
import { readKeyFile } from './read-key-file.js';
import { realPath } from './real-path.js';
import { loadRootKey } from './root-key.js';

/** Where the root key comes from, and where the next one lies while keys are rotated. */
export type RootKeyPlace = {
  /** As it is named; another user must not be able to change where it leads. */
  readonly named: string | null;
  /** The same without symbolic links: what a rotation overwrites. */
  readonly file: string | null;
  readonly command: readonly [string, ...string[]] | null;
  readonly nextFile: string | null;
  readonly dataDir: string;
  /** Of data that `--dev` makes. */
  readonly isDev: boolean;
};

export type RootKeysResult =
  | { readonly ok: true; readonly keys: readonly [Buffer, ...Buffer[]] }
  | { readonly ok: false; readonly message: string };

/** As the settings name it; for data that `--dev` made the file that lies beside it. */
export function rootKeyPlaceOf({ settings }: Config): RootKeyPlace {
  const { data: dataDir, root_key_command: command } = settings;
  const devFile = devRootKeyPath(dataDir);
  const named = settings.root_key_file ?? (command === null && existsSync(devFile) ? devFile : null);
  const file = named === null ? null : realPath(named);
  const nextFile = settings.next_root_key_file ?? (file === null ? null : `${file}.new`);
  return { named, file, command, nextFile, dataDir, isDev: settings.dev || named === devFile };
}

/**
 * The root key, and behind it the next one if there is one: a rotation that was cut off may have put everything under it
 * already, and the file of the old one may be half overwritten then. Each is the caller's to zero.
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
  const [first, ...others] = [present, next].flatMap((loaded) => (loaded?.ok === true ? [loaded.key] : []));
  if (first !== undefined) return { ok: true, keys: [first, ...others] };
  return present.ok ? { ok: true, keys: [present.key] } : present;
}
