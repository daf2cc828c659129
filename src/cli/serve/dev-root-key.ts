import { existsSync } from 'node:fs';
import type { Config } from '../../compose/config.js';
import { devRootKeyPath } from '../../compose/root-key/dev-root-key-path.js';
import { generateRootKey } from '../../compose/root-key/generate-root-key.js';
import { Failure } from '../failure.js';

/** Makes the root key of `--dev` beside the data directory, unless it is there or the settings name another. */
export function ensureDevRootKey({ settings }: Config): void {
  const path = devRootKeyPath(settings.data);
  if (settings.root_key_file !== null || settings.root_key_command !== null || existsSync(path)) return;
  const generated = generateRootKey(path);
  if (!generated.ok) throw new Failure(generated.message);
  process.stderr.write(`--dev made a root key: ${path}\n`);
}
