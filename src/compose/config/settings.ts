import { z } from 'zod';
import { logLevels } from '../../http/logging/logger.js';
import {
  collectorUrl,
  command,
  flag,
  groupRules,
  host,
  hostNames,
  issuerUrl,
  keyHeaderNames,
  loopbackOrHttps,
  oneOf,
  optionalPath,
  origin,
  path,
  pathOrCommand,
  plainHeaderNames,
  portOrOff,
  proxyAddress,
  ratio,
  scopes,
  shortText,
  wholeNumber,
} from './schemas.js';
import { serverSettings } from './server-settings.js';
import type { Setting } from './setting.js';

/**
 * Every setting, keyed by its path in a configuration file. The names of its variable and its flag are derived from
 * this path. For example, `auth.header_aliases` has the variable `STRONGROOM_AUTH_HEADER_ALIASES` and the flag
 * `--auth-header-aliases`. See docs/contract.md, "Settings".
 */
export const settings = {
  profile: {
    schema: oneOf(['embedded', 'cluster']),
    default: 'embedded',
    form: 'text',
    doc:
      'Where the data is stored: embedded keeps it in files on one machine; cluster keeps it in EventStoreDB, ' +
      'MongoDB and Redis.',
  },
  role: {
    schema: oneOf(['all', 'api', 'worker']),
    default: 'all',
    form: 'text',
    doc: 'What a process does in the cluster profile: api serves requests, worker does background work, all does both.',
  },
  host: {
    schema: host,
    default: '127.0.0.1',
    form: 'text',
    doc: 'The address to listen on. An address that other machines can reach needs TLS.',
  },
  port: {
    schema: wholeNumber(0, 65_535),
    default: 8080,
    form: 'number',
    doc: 'The port to listen on; 0 selects a free port.',
  },
  data: { schema: path, default: './data', form: 'text', doc: 'The data directory.' },
  dev: {
    schema: flag,
    default: false,
    form: 'boolean',
    doc: 'Creates a root key and the first applications, so that you can try Strongroom on this machine only.',
  },
  container: {
    schema: flag,
    default: false,
    form: 'boolean',
    doc:
      'Refuses to start as root, or with a data directory that is not on a volume. The container image sets this ' +
      'to true.',
  },
  'shutdown.delay_seconds': {
    schema: wholeNumber(0, 300),
    default: 0,
    form: 'number',
    doc:
      'How many seconds the service keeps accepting requests after SIGTERM, while /health/ready returns 503. Set ' +
      'it to longer than your load balancer takes to notice.',
  },
  log_level: {
    schema: oneOf(logLevels),
    default: 'info',
    form: 'text',
    doc: 'The lowest level that is logged.',
  },
  root_key_file: {
    schema: optionalPath,
    default: null,
    form: 'text',
    doc:
      'The file with the root key, outside the data directory. Either only its owner has access to it, or root ' +
      "owns it and only the service's group can read it (mode 0440).",
  },
  next_root_key_file: {
    schema: optionalPath,
    default: null,
    form: 'text',
    doc:
      'The file with the next root key during a rotation. The default is root_key_file with `.new` appended. The ' +
      'service tries this key if the current root key does not open the keys.',
  },
  root_key_command: {
    schema: command.nullable(),
    default: null,
    form: 'json',
    // The command's arguments may contain credentials for a secret store.
    secret: true,
    doc: 'A command that prints the root key, as an array of the program and its arguments. No shell is involved.',
  },
  ...serverSettings,
  'auth.header_aliases': {
    schema: keyHeaderNames,
    default: [],
    form: 'list',
    doc: 'Header names that carry the API key, in addition to SERVICE-API-KEY.',
  },
  'auth.bearer': {
    schema: flag,
    default: false,
    form: 'boolean',
    doc:
      'Also accepts the API key as `Authorization: Bearer <key>`. A request with two different keys gets 401, ' +
      'so keep it off behind a proxy that sends bearer tokens of its own.',
  },
  'http.idempotency_header_aliases': {
    schema: plainHeaderNames,
    default: [],
    form: 'list',
    doc: 'Additional header names that carry the idempotency key.',
  },
  'http.trace_header_aliases': {
    schema: plainHeaderNames,
    default: [],
    form: 'list',
    doc: 'Additional header names that carry the trace id.',
  },
  'http.cors_origins': {
    schema: z.array(origin, { error: 'must be a list of origins' }),
    default: [],
    form: 'list',
    doc: 'Origins whose pages may call the service from a browser. There are none by default.',
  },
  'http.trusted_proxies': {
    schema: z.array(proxyAddress, { error: 'must be a list of IP addresses and networks' }),
    default: [],
    form: 'list',
    doc: "Addresses and networks of proxies that the service trusts to state the caller's address.",
  },
  'tls.cert': {
    schema: optionalPath,
    default: null,
    form: 'text',
    doc: 'The file with the TLS certificate and its chain (PEM).',
  },
  'tls.key': {
    schema: optionalPath,
    default: null,
    form: 'text',
    doc: 'The file with the private key of the TLS certificate (PEM).',
  },
  behind_tls_proxy: {
    schema: flag,
    default: false,
    form: 'boolean',
    doc:
      'A proxy in front of the service terminates TLS. The service then serves only connections from ' +
      'http.trusted_proxies whose X-Forwarded-Proto header is https; other requests get 403, except /health/*.',
  },
  'rate_limit.requests': {
    schema: wholeNumber(0, 1_000_000_000),
    default: 1_000,
    form: 'number',
    doc:
      'How many requests an application may send per window; 0 means no limit. A call to tokenize or detokenize ' +
      'counts as one request per token, up to 100, so a limit below 100 rejects every large call.',
  },
  'rate_limit.window_seconds': {
    schema: wholeNumber(1, 3600),
    default: 10,
    form: 'number',
    doc: 'The length of the rate limit window, in seconds.',
  },
  'rate_limit.auth_failures': {
    schema: wholeNumber(0, 1_000_000_000),
    default: 50,
    form: 'number',
    doc: 'How many requests without a valid key an address may send per window; 0 means no limit.',
  },
  'rate_limit.keyless_requests': {
    schema: wholeNumber(0, 1_000_000_000),
    default: 100,
    form: 'number',
    doc:
      'How many requests for pages that need no key (/docs, /openapi.json, /errors) an address may send per ' +
      'window; 0 means no limit. /health is not counted.',
  },
  'rate_limit.guesses': {
    schema: wholeNumber(0, 1_000_000_000),
    default: 1_000,
    form: 'number',
    doc:
      'How many values and unknown ids an application may look up per hour: values in `data:` and `fingerprint:` ' +
      'terms that it may not read in plaintext, deduplications onto tokens that it may not read, and unknown ids ' +
      'in detokenize and bulk delete. There is no limit if this or rate_limit.requests is 0.',
  },
  'rate_limit.deduplication_misses': {
    schema: wholeNumber(0, 1_000_000_000),
    default: 10_000,
    form: 'number',
    doc:
      'How many creates and updates with deduplication an application may send per hour if it may not read every ' +
      'value in plaintext. A create counts only if it finds no equal token of another application. Imports do ' +
      'not count. There is no limit if this or rate_limit.requests is 0. A card number whose first six and last ' +
      'four digits are known has 100,000 candidates, which take ten hours to try at the default.',
  },
  'admin.host': {
    schema: host,
    default: '127.0.0.1',
    form: 'text',
    doc: 'The address of the admin listener (metrics, detailed health), which needs no key and has no TLS.',
  },
  'admin.port': {
    schema: portOrOff,
    default: 9464,
    form: 'number',
    doc: 'The port of the admin listener; 0 selects a free port, which is logged; off turns the listener off.',
  },
  'console.enabled': {
    schema: flag.nullable(),
    default: null,
    form: 'boolean',
    doc: 'Serves the console, a web interface, on its own listener. The default is true with dev, otherwise false.',
  },
  'console.host': {
    schema: host,
    default: '127.0.0.1',
    form: 'text',
    doc: 'The address of the console. An address that other machines can reach needs TLS and console.allowed_hosts.',
  },
  'console.port': {
    schema: wholeNumber(0, 65_535),
    default: 8090,
    form: 'number',
    doc: 'The port of the console; 0 selects a free port, which is logged.',
  },
  'console.allowed_hosts': {
    schema: hostNames,
    default: [],
    form: 'list',
    doc:
      'The host names, without a port, that people use to open the console. Loopback is always allowed. Requests ' +
      'with another Host header get 421.',
  },
  'console.public_url': {
    schema: loopbackOrHttps.nullable(),
    default: null,
    form: 'text',
    doc:
      'The address that people use to open the console, such as https://console.vault.example, without a path. ' +
      'Sign-in with an identity provider requires it.',
  },
  'console.oidc.issuer': {
    schema: issuerUrl.nullable(),
    default: null,
    form: 'text',
    doc:
      'The issuer of the identity provider for signing in to the console (OpenID Connect), exactly as its ID ' +
      'tokens name it. Without it, people can sign in only with keys and codes.',
  },
  'console.oidc.client_id': {
    schema: shortText.nullable(),
    default: null,
    form: 'text',
    doc:
      "The console's client id at the identity provider. Register the redirect URI console.public_url + " +
      '/sign-in/callback.',
  },
  'console.oidc.client_secret_file': {
    schema: optionalPath,
    default: null,
    form: 'text',
    doc: "The file with the console's client secret.",
  },
  'console.oidc.scopes': {
    schema: scopes,
    default: ['openid', 'profile'],
    form: 'list',
    doc: 'The scopes to request. Add the scope that makes the identity provider put groups into the ID token.',
  },
  'console.oidc.groups_claim': {
    schema: shortText,
    default: 'groups',
    form: 'text',
    doc: "The claim of the ID token that lists a person's groups.",
  },
  'console.oidc.name_claim': {
    schema: shortText,
    default: 'name',
    form: 'text',
    doc:
      'The ID token claim with the name that the access log shows. Choose a claim that people cannot change ' +
      'themselves. A person without the claim, or with twelve or more digits in a row in it, ' +
      'appears as the subject (sub).',
  },
  'console.oidc.groups': {
    schema: groupRules,
    default: [],
    form: 'json',
    doc:
      'What the members of each group may open, as an array of objects. Each object has a group, and a tenant ' +
      'with the id of its private or management application, or operator: true. The first match counts.',
  },
  'disk.reserve_bytes': {
    schema: wholeNumber(0, 1_000_000_000_000),
    default: 268_435_456,
    form: 'number',
    doc:
      'How many bytes of the disk under the data directory are reserved for deletes, expiries and records of ' +
      'reveals, at most 5% of the disk. If less is free, creates and updates get 503. 0 means no reserve. ' +
      'Embedded profile only.',
  },
  'audit.anchor': {
    schema: pathOrCommand.nullable(),
    default: null,
    form: 'json',
    // The arguments of an anchor program may contain credentials for that anchor.
    secret: true,
    doc:
      'Receives each signed checkpoint of the log as one line. It is a file, preferably on another machine, or a ' +
      'command that reads the line from standard input, as an array of the program and its arguments.',
  },
  'webhooks.allow_private_targets': {
    schema: flag,
    default: false,
    form: 'boolean',
    doc:
      'Also delivers webhooks to addresses that are not on the public internet, and over plain HTTP. Any ' +
      "application that may create webhooks can then send requests into the service's network.",
  },
  'tracing.endpoint': {
    schema: collectorUrl,
    default: null,
    form: 'text',
    // The path or query of the address may contain credentials for the collector.
    secret: true,
    doc:
      'Where an OpenTelemetry collector accepts traces (OTLP over HTTP), such as ' +
      'http://localhost:4318/v1/traces. Without it, no traces are recorded.',
  },
  'tracing.sample_ratio': {
    schema: ratio,
    default: 1,
    form: 'number',
    doc:
      'The fraction of traces to record, from 0 to 1. A request with a traceparent header is recorded if its ' +
      'caller recorded it.',
  },
  'cvc.retention_seconds': {
    schema: wholeNumber(1, 3600),
    default: 3600,
    form: 'number',
    doc: 'How long a card verification code is kept, in seconds.',
  },
} as const satisfies Record<string, Setting>;

export type SettingPath = keyof typeof settings;

/** The value of every setting, keyed by path. */
export type Settings = { readonly [P in SettingPath]: z.output<(typeof settings)[P]['schema']> };

export const settingPaths = Object.keys(settings).filter(isSettingPath);

export function isSettingPath(path: string): path is SettingPath {
  return Object.hasOwn(settings, path);
}
