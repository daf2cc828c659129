import { existsSync } from 'node:fs';
import type { Config } from '../compose/config.js';
import { devRootKeyPath } from '../compose/root-key/dev-root-key-path.js';
import { loadRootKey } from '../compose/root-key.js';
import { Failure } from './failure.js';

/**
 * The root key that the settings name; for data that `--dev` made the one that lies beside it. `serve` without `--dev`
 * still refuses such data.
 */
export async function rootKeyOf({ settings }: Config): Promise<Buffer> {
  const { data: dataDir, root_key_command: command } = settings;
  const devFile = devRootKeyPath(dataDir);
  const file = settings.root_key_file ?? (command === null && existsSync(devFile) ? devFile : null);
  const loaded = await loadRootKey({ file, command, dataDir });
  if (!loaded.ok) throw new Failure(loaded.message);
  return loaded.key;
}
