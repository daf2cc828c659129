import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { apiKeySource } from '../compose/config/client-settings.js';
import type { Config } from '../compose/config/config.js';
import { Secret } from '../domain/secret.js';
import { isWellFormedApiKey } from '../domain/tenancy/api-key.js';
import { Failure } from './failure.js';
import { readInput, readSecret } from './read-input.js';
import { expectVault } from './run-command.js';

type Options = Readonly<Record<string, unknown>>;
type NamedKey = { readonly key: Secret<string>; readonly name: string };

/**
 * Returns the API key from `--api-key-file`, `STRONGROOM_API_KEY_FILE` or `STRONGROOM_API_KEY`, and the name of the
 * option or variable that provided the key. Error messages include this name. Returns null if none of them is set.
 * Throws Failure if there is no well-formed key in it.
 */
export async function apiKeyOf(options: Options): Promise<NamedKey | null> {
  const found = apiKeySource({ flags: options });
  if (!found.ok) throw new Failure(found.problem, 2);
  const { source } = found;
  if (source === null) return null;
  if (source.kind !== 'file') return wellFormed(source);
  const text = await readSecret(source.file, 'the application key');
  return wellFormed({ key: new Secret(text.trim()), name: source.file === '-' ? 'standard input' : source.file });
}

/**
 * Returns the key. Throws Failure if it does not have the form of an API key. Threat: the operator passes the wrong file
 * by mistake, such as the root key file, and a command for an address sends its content over the network.
 */
function wellFormed(found: NamedKey): NamedKey {
  if (isWellFormedApiKey(found.key.reveal())) return found;
  throw new Failure(
    `${found.name} must contain an API key (sr_…) and nothing else. Check that it is the right one, and that the key is ` +
      'complete.',
  );
}

/**
 * Returns the API key for a command that runs as an application on local data. If neither the options nor the
 * environment contains a key, returns the key that `--dev` stored in the data directory. Throws Failure if there is no
 * key. If there is no vault either, the message says so, because without a vault no key helps.
 */
export async function applicationKey(options: Options, config: Config): Promise<string> {
  const given = await apiKeyOf(options);
  if (given !== null) return given.key.reveal();
  const devKeys = join(config.settings.data, 'dev-keys.json');
  if (!existsSync(devKeys)) {
    expectVault(config);
    throw new Failure(askForKey, 2);
  }
  const key = quickstartKeyIn(await readInput(devKeys, 'the quickstart key'));
  if (key === null) throw new Failure(`${devKeys} contains no quickstart key; ${askForKey}`, 2);
  return key;
}

export const askForKey = 'specify the API key: --api-key-file FILE (- for standard input), or STRONGROOM_API_KEY.';

/** Returns the key in the content of `dev-keys.json`, or null if it contains none. */
function quickstartKeyIn(text: string): string | null {
  try {
    const { quickstart_key: key } = JSON.parse(text) as { readonly quickstart_key?: unknown };
    return typeof key === 'string' ? key : null;
  } catch {
    return null;
  }
}
