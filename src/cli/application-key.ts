import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { readInput } from './read-input.js';

/**
 * Returns the key of the application that a command acts as: from `--key-file`, or else the quickstart key of `--dev`
 * data.
 */
export async function applicationKey(keyFile: string | undefined, dataDir: string): Promise<string> {
  if (keyFile !== undefined) return (await readInput(keyFile, 'the application key')).trim();
  const devKeys = join(dataDir, 'dev-keys.json');
  if (!existsSync(devKeys))
    throw new Failure('name the file with the application key: --key-file FILE (- for standard input).', 2);
  const keys = JSON.parse(await readInput(devKeys, 'the quickstart key')) as { readonly quickstart_key?: unknown };
  return String(keys.quickstart_key ?? '');
}
