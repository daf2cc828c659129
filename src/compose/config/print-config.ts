import type { Setting } from './setting.js';
import { type SettingPath, type Settings, settingPaths, settings } from './settings.js';

/** The part of `Config` that is printed. `config.ts` itself uses this module. */
type Printed = { readonly settings: Settings; readonly sources: Readonly<Record<SettingPath, string>> };

const hidden = '[hidden]';

/**
 * Returns every setting with its value and source, for `strongroom config print`. Hides secret values, and the secrets
 * in values that look like a URL.
 */
export function shownSettings(config: Printed): readonly ShownSetting[] {
  return settingPaths.map((path) => ({ path, value: shown(config, path), source: config.sources[path] }));
}

export type ShownSetting = { readonly path: SettingPath; readonly value: unknown; readonly source: string };

function shown(config: Printed, path: SettingPath): unknown {
  const value = config.settings[path];
  const { secret }: Setting = settings[path];
  if (secret && value !== null) return hidden;
  return typeof value === 'string' ? withoutSecrets(value) : value;
}

const host = String.raw`(?:[\p{L}\p{N}._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?`;

/**
 * Matches a URL with an optional user and password, one or more hosts, a path and a query. Does not match if the
 * password may extend beyond the first group, as in `redis://user:pa/ss@host`.
 */
const plainUrl = new RegExp(
  String.raw`^([a-z][a-z0-9+.-]*://)([^\s/?#]*@)?(${host}(?:,${host})*)(/[^\s?#@]*)?(?:\?([^\s?#@]*))?$`,
  'iu',
);

/** Parameters of store addresses whose values are not secret, in lower case. All other values are hidden. */
const openParameters = new Set(
  (
    'authMechanism authSource directConnection family loadBalanced readPreference replicaSet retryReads retryWrites ' +
    'ssl tls tlsAllowInvalidCertificates tlsAllowInvalidHostnames tlsCAFile tlsCertificateKeyFile tlsInsecure ' +
    'tlsVerifyCert w'
  )
    .toLowerCase()
    .split(' '),
);
const openParameter = /^([a-z]+)=[\w./:%+-]*$/i;

/**
 * Returns the text without the secrets in it. A misspelled address can have its password anywhere, so if the text
 * looks like an address but is not a plain URL, hides all of it.
 */
export function withoutSecrets(text: string): string {
  if (!/:\/\/|:.*@/su.test(text)) return text;
  const [, scheme, user, hosts, path = '', query] = plainUrl.exec(text) ?? [];
  if (scheme === undefined) return hidden;
  const parameters = query?.split('&').map(withoutValue).join('&');
  const shownUser = user === undefined ? '' : `${hidden}@`;
  return `${scheme}${shownUser}${hosts}${path}${parameters === undefined ? '' : `?${parameters}`}`;
}

function withoutValue(parameter: string): string {
  const [name = ''] = parameter.split('=');
  if (openParameter.test(parameter) && openParameters.has(name.toLowerCase())) return parameter;
  return parameter.includes('=') && /^[a-z]+$/i.test(name) ? `${name}=${hidden}` : hidden;
}
