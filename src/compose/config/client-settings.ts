import { Secret } from '../../domain/secret.js';
import { environmentName, flagMember, flagName } from './setting.js';

/**
 * The options of commands that run as an application: the address of the service, and the API key. They are not
 * settings of the vault. `serve` and operator commands ignore the variables of these options, and a configuration file
 * cannot contain the options. See docs/contract.md, "Commands over HTTP".
 */
export const clientSettings = {
  address: {
    doc:
      'The address of a running service, such as https://vault.example.com. Without it, a command works on local ' +
      'data.',
    hasFlag: true,
  },
  api_key: {
    doc:
      'The API key of the application that a command acts as. It has no flag, because other users can see ' +
      'arguments.',
    hasFlag: false,
  },
  api_key_file: {
    doc: 'The file that contains the API key; - for standard input.',
    hasFlag: true,
  },
} as const;

export type ClientSettingPath = keyof typeof clientSettings;

export const clientSettingPaths = Object.keys(clientSettings) as readonly ClientSettingPath[];

/** The sources of values: the environment, and a command's options under the member names that commander assigns. */
export type ClientSources = {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
};

type Problem = { readonly ok: false; readonly problem: string };

export type AddressResult =
  | {
      readonly ok: true;
      /**
       * The address of the service, or null if the command works on local data. `name` is the flag or variable that
       * contains the address.
       */
      readonly address: { readonly url: URL; readonly name: string } | null;
    }
  | Problem;

/**
 * Returns the address of the service that a command connects to. If the address is invalid, the description of the
 * problem does not contain it, because it may include a password.
 */
export function serviceAddress(sources: ClientSources): AddressResult {
  const given = givenValue('address', sources);
  if (given === null) return { ok: true, address: null };
  const { name, value } = given;
  const url = /^https?:\/\//i.test(value) && URL.canParse(value) ? new URL(value) : null;
  const fault = url === null ? notAnAddress : faultOf(url);
  if (url === null || fault !== null) return { ok: false, problem: `${name}: ${fault}` };
  return { ok: true, address: { url, name } };
}

const notAnAddress = 'must be an address that begins with https:// or http://, such as https://vault.example.com';

function faultOf({ username, password, pathname, search, hash }: URL): string | null {
  if (username !== '' || password !== '') return 'must have no user and password; the API key identifies the caller';
  if (pathname !== '/' || search !== '' || hash !== '')
    return 'must have no path, query or fragment, such as https://vault.example.com:8080';
  return null;
}

export type ApiKeySource =
  | { readonly kind: 'file'; readonly file: string; readonly name: string }
  | { readonly kind: 'variable'; readonly key: Secret<string>; readonly name: string };

/**
 * Returns the source of a command's API key. Returns null if no source is set. A flag takes precedence over variables.
 */
export function apiKeySource(
  sources: ClientSources,
): { readonly ok: true; readonly source: ApiKeySource | null } | Problem {
  const file = givenValue('api_key_file', sources);
  const key = givenValue('api_key', sources);
  const flag = flagName('api_key_file');
  if (file !== null && file.name !== flag && key !== null)
    return { ok: false, problem: `${key.name}: ${file.name} is set too; remove one of them` };
  if (file !== null) {
    // A variable cannot select standard input, because only the command knows whether it needs standard input for other
    // data.
    if (file.value === '' || (file.value === '-' && file.name !== flag))
      return { ok: false, problem: `${file.name}: must be a path` };
    return { ok: true, source: { kind: 'file', file: file.value, name: file.name } };
  }
  if (key === null) return { ok: true, source: null };
  return { ok: true, source: { kind: 'variable', key: new Secret(key.value.trim()), name: key.name } };
}

/**
 * Returns the value of the flag if it is set, or the value of the variable if it is not. Returns null if neither is
 * set.
 */
function givenValue(path: ClientSettingPath, { flags, env = process.env }: ClientSources): Given | null {
  const flag = clientSettings[path].hasFlag ? flags[flagMember(path)] : undefined;
  if (typeof flag === 'string') return { name: flagName(path), value: flag };
  const name = environmentName(path);
  const value = env[name];
  return value === undefined ? null : { name, value };
}

type Given = { readonly name: string; readonly value: string };
