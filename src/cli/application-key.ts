import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { apiKeySource } from '../compose/config/client-settings.js';
import { Secret } from '../domain/secret.js';
import { Failure } from './failure.js';
import { readInput } from './read-input.js';

type Options = Readonly<Record<string, unknown>>;

/**
 * Returns the API key from `--api-key-file`, `STRONGROOM_API_KEY_FILE` or `STRONGROOM_API_KEY`, and the name of the
 * option or variable that provided the key. Error messages include this name. Returns null if none of them is set.
 */
export async function apiKeyOf(
  options: Options,
): Promise<{ readonly key: Secret<string>; readonly name: string } | null> {
  const found = apiKeySource({ flags: options });
  if (!found.ok) throw new Failure(found.problem, 2);
  const { source } = found;
  if (source?.kind !== 'file') return source;
  const text = await readInput(source.file, 'the application key');
  return { key: new Secret(text.trim()), name: source.file === '-' ? 'standard input' : source.file };
}

/**
 * Returns the API key for a command that runs as an application on local data. If neither the options nor the
 * environment contains a key, returns the key that `--dev` stored in the data directory.
 */
export async function applicationKey(options: Options, dataDir: string): Promise<string> {
  const given = await apiKeyOf(options);
  if (given !== null) return given.key.reveal();
  const devKeys = join(dataDir, 'dev-keys.json');
  if (!existsSync(devKeys))
    throw new Failure('specify the API key: --api-key-file FILE (- for standard input), or STRONGROOM_API_KEY.', 2);
  const keys = JSON.parse(await readInput(devKeys, 'the quickstart key')) as { readonly quickstart_key?: unknown };
  return String(keys.quickstart_key ?? '');
}
