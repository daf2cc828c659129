import { withoutSecrets } from './print-config.js';
import { isLoopback } from './schemas.js';
import type { SettingPath, Settings } from './settings.js';

type NameOf = (path: SettingPath) => string;

const headerSettings = {
  'auth.header_aliases': ['service-api-key'],
  'http.idempotency_header_aliases': ['service-idempotency-key', 'idempotency-key'],
  'http.trace_header_aliases': ['service-trace-id'],
} as const;
const headerPaths = ['auth.header_aliases', 'http.idempotency_header_aliases', 'http.trace_header_aliases'] as const;

/**
 * Checks for settings that are valid on their own but not in combination. Returns one line per problem, with advice.
 */
export function crossChecks(values: Settings, nameOf: NameOf): readonly string[] {
  return [
    ...reachChecks(values, nameOf),
    ...consoleChecks(values, nameOf),
    ...identityProviderChecks(values, nameOf),
    ...rootKeyChecks(values, nameOf),
    ...headerChecks(values, nameOf),
    ...storeChecks(values, nameOf),
  ];
}

/**
 * Checks that keys and card numbers cannot cross a network in plaintext, and that only this machine can reach a `--dev`
 * vault.
 */
function reachChecks(values: Settings, nameOf: NameOf): readonly string[] {
  const problems: string[] = [];
  const { host, dev, behind_tls_proxy: isBehindProxy, 'tls.cert': cert, 'tls.key': key } = values;
  if (cert !== null && key === null) problems.push(`${nameOf('tls.cert')}: needs tls.key as well`);
  if (key !== null && cert === null) problems.push(`${nameOf('tls.key')}: needs tls.cert as well`);
  if (isBehindProxy && values['http.trusted_proxies'].length === 0) {
    problems.push(`${nameOf('behind_tls_proxy')}: needs the addresses of the proxy in http.trusted_proxies`);
  }
  const ofThisMachine = `${nameOf('dev')} is for this machine only; use 127.0.0.1, or remove dev`;
  if (dev && !isLoopback(values['admin.host'])) problems.push(`${nameOf('admin.host')}: ${ofThisMachine}`);
  if (isLoopback(host)) return problems;
  if (dev) {
    problems.push(`${nameOf('host')}: ${ofThisMachine}`);
  } else if (cert === null && key === null && !isBehindProxy) {
    problems.push(
      `${nameOf('host')}: other machines can reach this address, so TLS is required; set tls.cert and tls.key ` +
        '(--tls-cert, --tls-key), or behind_tls_proxy with http.trusted_proxies when a proxy terminates TLS, or ' +
        'use 127.0.0.1',
    );
  }
  return problems;
}

/**
 * Checks that console sessions cannot cross a network in plaintext. Also checks that the console's host names are set
 * if other machines can reach the console.
 */
function consoleChecks(values: Settings, nameOf: NameOf): readonly string[] {
  const { 'console.host': host, dev, behind_tls_proxy: isBehindProxy } = values;
  if (!(values['console.enabled'] ?? dev) || isLoopback(host)) return [];
  if (dev)
    return [`${nameOf('console.host')}: ${nameOf('dev')} is for this machine only; use 127.0.0.1, or remove dev`];
  const problems: string[] = [];
  if (values['tls.cert'] === null && !isBehindProxy) {
    problems.push(
      `${nameOf('console.host')}: other machines can reach this address, so TLS is required; set tls.cert and ` +
        'tls.key, or behind_tls_proxy with http.trusted_proxies if a proxy terminates TLS, or use 127.0.0.1',
    );
  }
  if (values['console.allowed_hosts'].length === 0) {
    problems.push(`${nameOf('console.host')}: needs the names of the console in console.allowed_hosts`);
  }
  return problems;
}

const ofProvider = [
  'console.oidc.issuer',
  'console.oidc.client_id',
  'console.oidc.client_secret_file',
  'console.oidc.groups',
] as const;

/**
 * If any of the settings for sign-in with an identity provider is set, checks that the others are set too. Also checks
 * that the console accepts the host of its public URL, because the identity provider sends browsers back to that URL.
 */
function identityProviderChecks(values: Settings, nameOf: NameOf): readonly string[] {
  const given = ofProvider.find((path) => isSet(values[path]));
  const publicUrl = values['console.public_url'];
  const problems = publicUrl === null ? [] : publicHostChecks(publicUrl, values, nameOf);
  if (given === undefined) return problems;
  const missing = ([...ofProvider, 'console.public_url'] as const).filter((path) => !isSet(values[path]));
  return [...problems, ...missing.map((path) => `${nameOf(given)}: needs ${path} as well`)];
}

function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== null;
}

function publicHostChecks(publicUrl: string, values: Settings, nameOf: NameOf): string[] {
  const { hostname } = new URL(publicUrl);
  if (isLoopback(hostname) || values['console.allowed_hosts'].includes(hostname)) return [];
  return [`${nameOf('console.public_url')}: the console rejects this host; add it to console.allowed_hosts`];
}

function rootKeyChecks(values: Settings, nameOf: NameOf): readonly string[] {
  if (values.root_key_file === null || values.root_key_command === null) return [];
  return [
    `${nameOf('root_key_file')}: root_key_command is set too (${nameOf('root_key_command')}); remove one of them`,
  ];
}

/**
 * Checks that no header name has two meanings. Threat: a client sends its API key in a header whose value the vault
 * logs as a trace id, and an attacker reads the key in the log.
 */
function headerChecks(values: Settings, nameOf: NameOf): readonly string[] {
  // The vault reads the entire value of an alias header as the API key. If `authorization` were an alias, the vault
  // would read `Bearer` and the key after it as a single, invalid key.
  const isAmbiguous = values['auth.bearer'] && values['auth.header_aliases'].includes('authorization');
  const bearer = isAmbiguous
    ? [`${nameOf('auth.bearer')}: auth.header_aliases names authorization as well; remove one of them`]
    : [];
  const clashing = headerPaths.flatMap((path) => {
    const taken = headerPaths.filter((other) => other !== path);
    const clashes = values[path].filter((name) =>
      taken.some((other) => values[other].includes(name) || headerSettings[other].some((known) => known === name)),
    );
    return clashes.map((name) => `${nameOf(path)}: ${name} already has another meaning; remove it`);
  });
  return [...clashing, ...bearer];
}

const stores = ['eventstore.url', 'mongodb.url', 'redis.url'] as const;
const storeUrls = [...stores, 'mongodb.keys_url'] as const;

/**
 * Checks that the settings are valid for the profile, that the address of each store is set only once, and that no
 * address in a flag can contain credentials. Threat: every user of the machine can see the arguments of a process.
 */
function storeChecks(values: Settings, nameOf: NameOf): readonly string[] {
  const both = storeUrls
    .filter((path) => values[path] !== null && values[`${path}_file`] !== null)
    .map((path) => `${nameOf(path)}: ${path}_file is set too (${nameOf(`${path}_file`)}); remove one of them`);
  const exposed = storeUrls
    .filter((path) => nameOf(path).startsWith('--') && withoutSecrets(values[path] ?? '') !== (values[path] ?? ''))
    .map((path) => `${nameOf(path)}: may contain credentials, which other users can see; use ${nameOf(path)}-file`);
  if (values.profile === 'embedded') {
    const role =
      values.role === 'all'
        ? []
        : [`${nameOf('role')}: is for the cluster profile; set profile to cluster, or remove it`];
    return [...both, ...exposed, ...role];
  }
  const dev = values.dev ? [`${nameOf('dev')}: is for the embedded profile; remove it`] : [];
  const missing = stores
    .filter((path) => values[path] === null && values[`${path}_file`] === null)
    .map((path) => `${nameOf(path)}: the cluster profile needs it; set ${path} or ${path}_file`);
  return [...both, ...exposed, ...dev, ...missing];
}
