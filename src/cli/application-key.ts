import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { readInput } from './read-input.js';

/** The key of the application that a verb acts as: from `--api-key-file`, else the quickstart key of `--dev` data. */
export async function applicationKey(apiKeyFile: string | undefined, dataDir: string): Promise<string> {
  if (apiKeyFile !== undefined) return (await readInput(apiKeyFile, 'the application key')).trim();
  const devKeys = join(dataDir, 'dev-keys.json');
  if (!existsSync(devKeys))
    throw new Failure('name the file with the application key: --api-key-file FILE (- for standard input).', 2);
  const keys = JSON.parse(await readInput(devKeys, 'the quickstart key')) as { readonly quickstart_key?: unknown };
  return String(keys.quickstart_key ?? '');
}
