import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Config, loadConfig } from '#src/compose/config/config.js';
import { shownSettings } from '#src/compose/config/print-config.js';
import { settingPaths, settings } from '#src/compose/config/settings.js';
import { storeUrls } from '#src/compose/config/store-urls.js';
import { StoreProblem } from '#src/ports/store-problem.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'strongroom-config-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Given = { env?: Record<string, string>; file?: unknown; flags?: Record<string, unknown> };

let files = 0;
function fileOf(contents: unknown): string {
  files += 1;
  const path = join(folder, `${files}.json`);
  writeFileSync(path, typeof contents === 'string' ? contents : JSON.stringify(contents), { mode: 0o600 });
  return path;
}

function load({ env = {}, file, flags = {} }: Given) {
  return loadConfig({ env, flags, ...(file === undefined ? {} : { configFile: fileOf(file) }) });
}

function config(given: Given): Config {
  const result = load(given);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.config;
}

/** Returns the problems, without the name of the folder that contains the test's files. */
function problems(given: Given): readonly string[] {
  const result = load(given);
  return result.ok ? [] : result.problems.map((line) => line.replaceAll(/\(\S+\/\d+\.json\)/g, '(FILE)'));
}

describe('the sources of settings', () => {
  it('are the defaults if nothing is given', () => {
    const { settings: values, sources } = config({});
    expect(values).toEqual(Object.fromEntries(settingPaths.map((path) => [path, settings[path].default])));
    expect(new Set(Object.values(sources))).toEqual(new Set(['default']));
  });

  it('can give a fraction as text', () => {
    const given = (text: string) => [
      { env: { STRONGROOM_TRACING_SAMPLE_RATIO: text } },
      { flags: { tracingSampleRatio: text } },
    ];
    for (const [text, ratio] of [
      ['0.25', 0.25],
      ['1.0', 1],
      ['0', 0],
    ] as const) {
      for (const from of given(text)) expect(config(from).settings['tracing.sample_ratio']).toBe(ratio);
    }
    for (const text of ['1.5', '.5', '0.', '1e-1', '-0.5', '0,5']) {
      for (const from of given(text)) expect(problems(from), text).toHaveLength(1);
    }
  });

  it('have safe defaults', () => {
    expect(config({}).settings).toMatchObject({
      profile: 'embedded',
      host: '127.0.0.1',
      port: 8080,
      data: './data',
      dev: false,
      root_key_file: null,
      root_key_command: null,
      behind_tls_proxy: false,
      'auth.bearer': false,
      'auth.header_aliases': [],
      'http.idempotency_header_aliases': [],
      'http.trace_header_aliases': [],
      'http.cors_origins': [],
      'http.trusted_proxies': [],
      'cvc.retention_seconds': 3_600,
      'rate_limit.requests': 1_000,
      'rate_limit.window_seconds': 10,
      'rate_limit.auth_failures': 50,
      'rate_limit.guesses': 1_000,
      'admin.host': '127.0.0.1',
    });
  });

  it('are a file, then variables, then flags, and a later source overrides an earlier one', () => {
    const file = { port: 1, host: '::1', log_level: 'warn', auth: { header_aliases: ['X-File'] } };
    const env = { STRONGROOM_PORT: '2', STRONGROOM_LOG_LEVEL: 'debug', STRONGROOM_AUTH_HEADER_ALIASES: 'X-Env' };
    const { settings: values, sources } = config({ file, env, flags: { port: '3' } });
    expect(values).toMatchObject({ port: 3, host: '::1', log_level: 'debug', 'auth.header_aliases': ['x-env'] });
    expect(sources).toMatchObject({ port: 'flag', host: 'file', log_level: 'environment', dev: 'default' });
  });

  it('accept every setting in the file, whether it is in a group or has its full path', () => {
    const file = { tls: { cert: 'c', key: 'k' }, 'cvc.retention_seconds': 60, root_key_command: ['pass', 'show', 'x'] };
    expect(config({ file }).settings).toMatchObject({
      'tls.cert': 'c',
      'tls.key': 'k',
      'cvc.retention_seconds': 60,
      root_key_command: ['pass', 'show', 'x'],
    });
  });

  it('are read the same way from variables and flags', () => {
    const expected = {
      'http.cors_origins': ['https://a.example', 'http://localhost:3000'],
      root_key_command: ['a', 'b c'],
      dev: true,
      'cvc.retention_seconds': 1,
    };
    const env = {
      STRONGROOM_HTTP_CORS_ORIGINS: 'https://a.example, http://localhost:3000',
      STRONGROOM_ROOT_KEY_COMMAND: '["a","b c"]',
      STRONGROOM_DEV: '1',
      STRONGROOM_CVC_RETENTION_SECONDS: '1',
    };
    expect(config({ env }).settings).toMatchObject(expected);
    const flags = {
      httpCorsOrigins: 'https://a.example,http://localhost:3000',
      rootKeyCommand: '["a","b c"]',
      dev: true,
      cvcRetentionSeconds: '1',
    };
    expect(config({ flags }).settings).toMatchObject(expected);
  });

  it('can be reset with an empty list or false in a variable, and with null in the file', () => {
    const file = { auth: { header_aliases: ['X-A'] }, dev: true, tls: { cert: null } };
    const env = { STRONGROOM_AUTH_HEADER_ALIASES: '', STRONGROOM_DEV: 'false' };
    expect(config({ file, env }).settings).toMatchObject({ 'auth.header_aliases': [], dev: false, 'tls.cert': null });
  });

  it('ignore a command’s own flags, and the variables for other programs and for the test servers', () => {
    const env = {
      PORT: 'x',
      STRONGROOMY: 'x',
      STRONGROOM_TEST_MONGODB_URL: 'x',
      STRONGROOM_SERVERS_DIR: 'x',
      STRONGROOM_MONGO_NODES: 'x',
      STRONGROOM_MONGO_PORT: 'x',
      STRONGROOM_CRASH_SEED: 'x',
      STRONGROOM_REDIS_PORT: 'x',
    };
    expect(problems({ env, flags: { json: true, config: 'x' } })).toEqual([]);
  });

  it('are validated only if they take effect', () => {
    expect(problems({ file: { port: -1 }, flags: { port: 1 } })).toEqual([]);
  });
});

describe('a setting that occurs twice in the file is an error that names it', () => {
  it.each([
    ['{"port": 1, "port": 2}', 'port'],
    ['{"dev": true, "\\u0064ev": false}', 'dev'],
    // Without the error, the parser would drop the first group.
    ['{"auth": {"bearer": true}, "auth": {"header_aliases": ["X-A"]}}', 'auth'],
    ['{"console.oidc.groups": [{"group": "a"}, {"group": "b", "group": "c"}]}', '["console.oidc.groups"][1].group'],
  ])('%j', (file, path) => {
    const [problem, ...others] = problems({ file });
    expect(problem).toMatch(/^\S+\.json: /);
    expect(problem?.endsWith(`.json: ${path} occurs more than once; remove all but one`), problem).toBe(true);
    expect(others).toEqual([]);
  });

  it('even if it is written as nested objects and as one key', () => {
    expect(problems({ file: { auth: { bearer: true }, 'auth.bearer': false } })).toEqual([
      'auth.bearer (FILE): occurs more than once; remove all but one',
    ]);
  });

  it('and a name in a value, or in another item of a list, is not a repetition', () => {
    const file = `{"root_key_command": ["port", "\\"port\\":", "{"], "port": 1, "tls": {"cert": "c", "key": "port"},
      "console.oidc.groups": [{"group": "a", "operator": true}, {"group": "b", "operator": true}], "console": {"port": 2}}`;
    expect(problems({ file }).join()).not.toContain('more than once');
  });
});

describe('name the setting nearest to an unknown one, in the notation of its source', () => {
  it.each<[Given, string]>([
    [
      { env: { STRONGROOM_AUTH_HEADER_ALIAS: 'x' } },
      'STRONGROOM_AUTH_HEADER_ALIAS: is not a setting; did you mean STRONGROOM_AUTH_HEADER_ALIASES?',
    ],
    [{ env: { STRONGROOM_PROT: '1' } }, 'STRONGROOM_PROT: is not a setting; did you mean STRONGROOM_PORT?'],
    [{ env: { STRONGROOM_ADRESS: 'x' } }, 'STRONGROOM_ADRESS: is not a setting; did you mean STRONGROOM_ADDRESS?'],
    [{ file: { address: 'https://vault' } }, 'address (FILE): is not a setting'],
    [{ env: { STRONGROOM_: '1' } }, 'STRONGROOM_: is not a setting; did you mean STRONGROOM_DEV?'],
    [{ env: { STRONGROOM_MONGO_URL: 'x' } }, 'STRONGROOM_MONGO_URL: is not a setting'],
    [{ env: { STRONGROOM_SERVERS_DIRS: '1' } }, 'STRONGROOM_SERVERS_DIRS: is not a setting'],
    [{ file: { loglevel: 'info' } }, 'loglevel (FILE): is not a setting; did you mean log_level?'],
    [{ file: { tls: { certificate: 'x' } } }, 'tls.certificate (FILE): is not a setting; did you mean tls.cert?'],
    [{ file: { tls: 'x' } }, 'tls (FILE): must be an object of settings'],
    [{ file: { host: { name: 'x' } } }, 'host (FILE): must be text'],
    [{ file: { constructor: 1 } }, 'constructor (FILE): is not a setting'],
  ])('%j', (given, expected) => {
    expect(problems(given)).toEqual([expect.stringContaining(expected)]);
  });

  it('reject a root key in a variable or in the file, and say where the root key belongs', () => {
    expect(problems({ env: { STRONGROOM_ROOT_KEY: '00ff00ff' } })).toEqual([
      expect.stringMatching(
        /^STRONGROOM_ROOT_KEY: .*must not be a setting.* set STRONGROOM_ROOT_KEY_FILE to the path$/,
      ),
    ]);
    expect(problems({ env: { STRONGROOM_ROOT_KEY: '' } })).toHaveLength(1);
    expect(problems({ file: { root_key: '00ff00ff' } })).toEqual([
      expect.stringMatching(/^root_key \(FILE\): .* set root_key_file to the path$/),
    ]);
  });
});

describe('wrong values', () => {
  it.each<[string, unknown, string]>([
    ['profile', 'clusters', 'must be one of embedded, cluster'],
    ['port', '8080x', 'must be a whole number from 0 to 65535'],
    ['port', '', 'must be a whole number'],
    ['port', '-1', 'must be a whole number'],
    ['port', '65536', 'must be a whole number'],
    ['port', '1.5', 'must be a whole number'],
    ['port', '1e3', 'must be a whole number'],
    ['host', '', 'must be an IP address'],
    ['host', '[::1]', 'without brackets'],
    ['host', 'a b', 'must be an IP address'],
    ['data', '', 'must not be empty'],
    ['dev', 'yes', 'must be true or false'],
    ['dev', 'constructor', 'must be true or false'],
    ['log_level', 'verbose', 'must be one of fatal, error'],
    ['root_key_file', '', 'must not be empty'],
    ['root_key_command', 'pass show x', 'must be a JSON array of strings'],
    ['root_key_command', '[]', 'must be a JSON array of strings'],
    ['root_key_command', '[""]', 'must be a JSON array of strings'],
    ['root_key_command', '["a",1]', 'must be a JSON array of strings'],
    ['root_key_command', '"a"', 'must be a JSON array of strings'],
    ['cvc.retention_seconds', '0', 'must be a whole number from 1 to 3600'],
    ['cvc.retention_seconds', '3601', 'must be a whole number from 1 to 3600'],
    ['auth.header_aliases', 'X Y', 'item 1'],
    ['auth.header_aliases', 'X-A,,X-B', 'item 2'],
    ['auth.header_aliases', 'X-A:', 'must be a header name'],
    ['auth.header_aliases', 'Content-Type', 'must be a header name'],
    ['auth.header_aliases', 'HOST', 'must be a header name'],
    ['auth.header_aliases', 'X-Forwarded-For', 'must be a header name'],
    ['auth.header_aliases', 'Cookie', 'must be a header name'],
    ['http.trace_header_aliases', 'Authorization', 'not authorization'],
    ['http.idempotency_header_aliases', 'authorization', 'not authorization'],
    ['http.cors_origins', '*', 'must be an origin'],
    ['http.cors_origins', 'null', 'must be an origin'],
    ['http.cors_origins', 'https://a.example/', 'must be an origin'],
    ['http.cors_origins', 'https://u:p@a.example', 'must be an origin'],
    ['http.cors_origins', 'file:///x', 'must be an origin'],
    ['http.trusted_proxies', '0.0.0.0/0', 'not every address'],
    ['http.trusted_proxies', '::/0', 'not every address'],
    ['http.trusted_proxies', '10.0.0.0/33', 'must be an IP address'],
    ['http.trusted_proxies', '10.0.0.0/8/8', 'must be an IP address'],
    ['http.trusted_proxies', 'proxy.example', 'must be an IP address'],
    ['http.trusted_proxies', 'fe80::1%eth0', 'must be an IP address'],
    ['data', 'a\0b', 'must be a path'],
    ['http.trusted_proxies', '10.0.0.1,10.0', 'item 2'],
    ['tracing.endpoint', 'https://user@collector.example', 'must not contain a user or password'],
    ['tracing.endpoint', 'https://:secret@collector.example', 'must not contain a user or password'],
    ['tracing.endpoint', 'grpc://collector.example', 'must be an address that begins with http:// or https://'],
  ])('%s must not be %j', (path, text, expected) => {
    const name = `STRONGROOM_${path.toUpperCase().replaceAll('.', '_')}`;
    expect(problems({ env: { [name]: String(text) } })).toEqual([expect.stringMatching(`^${name}.*: .*`)]);
    expect(problems({ env: { [name]: String(text) } })[0]).toContain(expected);
  });

  it.each<[string, string]>([
    ['auth.header_aliases', 'Authorization,X-API-KEY,x-api-key'],
    ['http.trusted_proxies', '127.0.0.1,10.0.0.0/8,::1,fd00::/8'],
    ['http.trace_header_aliases', 'X-Request-Id,traceparent'],
  ])('%s may be %s', (path, text) => {
    expect(problems({ env: { [`STRONGROOM_${path.toUpperCase().replaceAll('.', '_')}`]: text } })).toEqual([]);
  });

  it('normalize header names to lower case, and remove duplicates', () => {
    const env = { STRONGROOM_AUTH_HEADER_ALIASES: 'Authorization,X-API-KEY,x-api-key' };
    expect(config({ env }).settings['auth.header_aliases']).toEqual(['authorization', 'x-api-key']);
  });

  it('are all listed at once, with the name under which each was given and without its value', () => {
    const marker = 'MARKER4242';
    const listed = problems({
      file: { data: 1, tls: { key: 7 }, xy: marker },
      env: { STRONGROOM_PORT: marker, STRONGROOM_LOG_LEVEL: marker, STRONGROOM_ROOT_KEY: marker },
      flags: { host: `${marker} `, authHeaderAliases: `${marker} ${marker}` },
    });
    expect(listed.map((line) => line.split(':')[0])).toEqual([
      'xy (FILE)',
      'STRONGROOM_ROOT_KEY',
      '--host',
      'STRONGROOM_PORT',
      'data (FILE)',
      'STRONGROOM_LOG_LEVEL',
      '--auth-header-aliases (item 1)',
      'tls.key (FILE)',
    ]);
    expect(listed.join('\n')).not.toContain(marker);
  });

  it.each([
    ['{"port": 1', 'must be valid JSON'],
    ['[]', 'must contain a JSON object'],
    ['{"__proto__":{}}', 'must not be used as a key'],
  ])('may concern the whole file: %s', (file, expected) => {
    expect(problems({ file })).toEqual([expect.stringContaining(expected)]);
  });

  it('include a file that other users can change', () => {
    const configFile = fileOf({ port: 9000 });
    for (const [mode, isRejected] of [
      [0o666, true],
      [0o602, true],
      [0o644, false],
      [0o400, false],
    ] as const) {
      chmodSync(configFile, mode);
      const { ok } = loadConfig({ env: {}, flags: {}, configFile });
      expect([mode, ok]).toEqual([mode, !isRejected]);
    }
    chmodSync(configFile, 0o666);
    expect(loadConfig({ env: {}, flags: {}, configFile })).toEqual({
      ok: false,
      problems: [`${configFile}: other users can change it; check its content, then run: chmod go-w ${configFile}`],
    });
  });

  it.runIf(process.getuid?.() === 0)('include a file that another group can change (needs root)', () => {
    const configFile = fileOf({ port: 9000 });
    for (const [mode, group, isRejected] of [
      [0o664, 1, true],
      [0o644, 1, false],
      [0o664, 0, false],
    ] as const) {
      chownSync(configFile, 0, group);
      chmodSync(configFile, mode);
      const { ok } = loadConfig({ env: {}, flags: {}, configFile });
      expect([mode, group, ok]).toEqual([mode, group, !isRejected]);
    }
  });

  it('include a missing file', () => {
    const configFile = join(folder, 'none.json');
    expect(loadConfig({ env: {}, flags: {}, configFile })).toEqual({
      ok: false,
      problems: [`${configFile}: cannot be read; check the path, and that this user may read it`],
    });
  });
});

describe('settings that do not fit together', () => {
  const tls = { tlsCert: 'c', tlsKey: 'k' };
  const proxy = { behindTlsProxy: true, httpTrustedProxies: '10.0.0.1' };

  it.each(['0.0.0.0', '::', '10.0.0.1', 'example.com', '127.0.0.1.example.com', '127.1', '::ffff:127.0.0.1'])(
    'host %s needs TLS, either in this service or at a trusted proxy',
    (host) => {
      expect(problems({ flags: { host } })).toEqual([expect.stringMatching(/^--host: .*--tls-cert.*behind_tls_proxy/)]);
      expect(problems({ flags: { host, ...tls } })).toEqual([]);
      expect(problems({ flags: { host, ...proxy } })).toEqual([]);
      expect(problems({ flags: { host, behindTlsProxy: true } })).toEqual([
        expect.stringMatching(/^--behind-tls-proxy: .*http.trusted_proxies/),
      ]);
      expect(problems({ flags: { host, httpTrustedProxies: '10.0.0.1' } })).toHaveLength(1);
    },
  );

  it.each(['localhost', '127.0.0.1', '127.9.9.9', '::1'])('host %s needs no TLS', (host) => {
    expect(problems({ flags: { host, dev: true } })).toEqual([]);
  });

  it('dev rejects a host that other machines can reach, even with TLS', () => {
    for (const also of [{}, tls, proxy]) {
      expect(problems({ env: { STRONGROOM_HOST: '0.0.0.0' }, flags: { dev: true, ...also } })).toEqual([
        expect.stringMatching(/^STRONGROOM_HOST: --dev is for this machine only/),
      ]);
    }
  });

  it('dev rejects an admin listener that other machines can reach; without dev, the operator decides', () => {
    const others = '10.0.0.5';
    expect(problems({ flags: { adminHost: others, dev: true } })).toEqual([
      expect.stringMatching(/^--admin-host: --dev is for this machine only/),
    ]);
    expect(problems({ flags: { adminHost: others } })).toEqual([]);
  });

  it('the console is on only with dev, unless a setting says otherwise', () => {
    expect(config({ flags: { dev: true } }).settings['console.enabled']).toBeNull();
    expect(config({ env: { STRONGROOM_CONSOLE_ENABLED: 'false' } }).settings['console.enabled']).toBe(false);
    expect(config({ flags: { consoleEnabled: true } }).settings['console.enabled']).toBe(true);
  });

  it('a console that other machines can reach needs TLS and the names under which it is reached; dev rejects it', () => {
    const others = { consoleEnabled: true, consoleHost: '10.0.0.5' };
    expect(problems({ flags: others })).toEqual([
      expect.stringMatching(/^--console-host: other machines can reach this address, so TLS is required/),
      expect.stringMatching(/^--console-host: needs the names of the console in console\.allowed_hosts/),
    ]);
    const tls = { tlsCert: 'c', tlsKey: 'k', consoleAllowedHosts: 'console.example' };
    expect(problems({ flags: { ...others, ...tls } })).toEqual([]);
    expect(problems({ flags: { ...others, ...proxy, consoleAllowedHosts: 'console.example' } })).toEqual([]);
    expect(problems({ flags: { consoleHost: '10.0.0.5', dev: true } })).toEqual([
      expect.stringMatching(/^--console-host: --dev is for this machine only/),
    ]);
    // The console is turned off, so other machines cannot reach it even at this address.
    expect(problems({ flags: { consoleHost: '10.0.0.5' } })).toEqual([]);
  });

  describe('the console’s identity provider', () => {
    const groups = [{ group: 'support', tenant: 'tenant-1', private: 'application-1' }];
    const complete = {
      consolePublicUrl: 'https://console.example',
      consoleAllowedHosts: 'console.example',
      consoleOidcIssuer: 'https://login.example/realms/one',
      consoleOidcClientId: 'strongroom',
      consoleOidcClientSecretFile: '/run/secrets/client',
      consoleOidcGroups: JSON.stringify(groups),
    };

    it('is not set by default, and is complete with these settings', () => {
      expect(config({}).settings['console.oidc.issuer']).toBeNull();
      const { settings } = config({ flags: complete });
      expect(settings['console.oidc.groups']).toEqual(groups);
      expect(settings['console.oidc.scopes']).toEqual(['openid', 'profile']);
    });

    it.each([
      ['consolePublicUrl', 'console.public_url'],
      ['consoleOidcIssuer', 'console.oidc.issuer'],
      ['consoleOidcClientId', 'console.oidc.client_id'],
      ['consoleOidcClientSecretFile', 'console.oidc.client_secret_file'],
      ['consoleOidcGroups', 'console.oidc.groups'],
    ])('is incomplete without %s', (flag, path) => {
      const flags = { ...complete, [flag]: undefined };
      expect(problems({ flags })).toEqual([
        expect.stringMatching(new RegExp(`^--console-oidc-.*: needs ${path} as well$`)),
      ]);
    });

    it('must redirect to a host that the console serves', () => {
      const flags = { ...complete, consoleAllowedHosts: undefined };
      for (const consoleAllowedHosts of [undefined, 'other.example']) {
        expect(problems({ flags: { ...flags, consoleAllowedHosts } })).toEqual([
          '--console-public-url: the console rejects this host; add it to console.allowed_hosts',
        ]);
      }
      const onLoopback = { consolePublicUrl: 'http://127.0.0.1:8090', consoleOidcIssuer: 'http://[::1]:9000' };
      expect(problems({ flags: { ...flags, ...onLoopback } })).toEqual([]);
    });

    it.each([
      ['consoleOidcIssuer', 'http://login.example', 'must be an address that begins with https://'],
      ['consoleOidcIssuer', 'https://user:pass@login.example', 'must be an address that begins with https://'],
      ['consoleOidcIssuer', 'https://login.example/?x', 'must be an address that begins with https://'],
      ['consoleOidcIssuer', 'login.example', 'must be an address that begins with https://'],
      ['consolePublicUrl', 'http://console.example', 'must be an origin such as'],
      ['consolePublicUrl', 'https://console.example/path', 'must be an origin such as'],
      ['consoleOidcScopes', 'profile', 'must be a list of scopes with openid among them'],
      ['consoleOidcNameClaim', '', 'must be text of 1 to 500 characters'],
      ['consoleOidcGroups', 'not json', 'must be an array of objects'],
      ['consoleOidcGroups', '[{"group":"a"}]', '(item 1): opens nothing'],
      ['consoleOidcGroups', '[{"group":"a","private":"b"}]', '(item 1): tenant belongs to private and management'],
      ['consoleOidcGroups', '[{"group":"a","operator":true,"tenant":"t"}]', '(item 1): tenant belongs to'],
      ['consoleOidcGroups', '[{"group":"","operator":true}]', '(item 1): group must not be empty'],
      ['consoleOidcGroups', '[{"group":"a","operator":"yes"}]', '(item 1): operator must be true or false'],
      ['consoleOidcGroups', '[{"group":"a","operator":true,"admin":1}]', '(item 1): must be an object of group'],
    ])('%s rejects %s', (flag, text, message) => {
      expect(problems({ flags: { ...complete, [flag]: text } })).toEqual([expect.stringContaining(message)]);
    });
  });

  it.each([
    ['console.example', 'console.example'],
    ['Console.Example', 'console.example'],
    ['10.0.0.5', '10.0.0.5'],
    ['::1', '[::1]'],
    ['[2001:db8::1]', '[2001:db8::1]'],
  ])('console.allowed_hosts accepts %s', (text, value) => {
    expect(config({ env: { STRONGROOM_CONSOLE_ALLOWED_HOSTS: text } }).settings['console.allowed_hosts']).toEqual([
      value,
    ]);
  });

  it.each(['console.example:8090', 'https://console.example', '*', 'a b'])(
    'console.allowed_hosts rejects %s',
    (text) => {
      expect(problems({ env: { STRONGROOM_CONSOLE_ALLOWED_HOSTS: text } })).toEqual([
        expect.stringContaining('must be a list of host names or IP addresses, without a port'),
      ]);
    },
  );

  it.each([
    ['off', 'off'],
    ['0', 0],
    ['9999', 9999],
  ])('admin.port accepts %s', (text, value) => {
    expect(config({ env: { STRONGROOM_ADMIN_PORT: text } }).settings['admin.port']).toBe(value);
  });

  it('a TLS certificate requires its key, and the reverse', () => {
    expect(problems({ flags: { tlsCert: 'c' } })).toEqual(['--tls-cert: needs tls.key as well']);
    expect(problems({ file: { tls: { key: 'k' } } })).toEqual(['tls.key (FILE): needs tls.cert as well']);
  });

  it('the root key must come from one source only', () => {
    expect(problems({ env: { STRONGROOM_ROOT_KEY_FILE: 'k', STRONGROOM_ROOT_KEY_COMMAND: '["a"]' } })).toEqual([
      expect.stringContaining('remove one of them'),
    ]);
  });

  it.each([
    { authHeaderAliases: 'X-A', httpTraceHeaderAliases: 'x-a' },
    { authHeaderAliases: 'Service-Trace-Id' },
    { authHeaderAliases: 'Idempotency-Key' },
    { httpTraceHeaderAliases: 'Service-Api-Key' },
    { httpIdempotencyHeaderAliases: 'SERVICE-API-KEY' },
  ])('a header must have only one meaning: %j', (flags) => {
    expect(problems({ flags })[0]).toContain('already has another meaning');
  });

  it('Authorization contains either a bearer token or only the key', () => {
    const env = { STRONGROOM_AUTH_BEARER: 'true', STRONGROOM_AUTH_HEADER_ALIASES: 'X-API-KEY,Authorization' };
    expect(problems({ env })).toEqual([expect.stringContaining('STRONGROOM_AUTH_BEARER')]);
    expect(problems({ env })[0]).toContain('remove one of them');
    expect(config({ env: { ...env, STRONGROOM_AUTH_HEADER_ALIASES: 'X-API-KEY' } }).settings['auth.bearer']).toBe(true);
  });
});

describe('the cluster profile', () => {
  const stores = {
    STRONGROOM_PROFILE: 'cluster',
    STRONGROOM_EVENTSTORE_URL: 'esdb://u:MARKER4242@e:2113',
    STRONGROOM_MONGODB_URL: 'mongodb://u:MARKER4242@a,b/?replicaSet=rs0&tls=true',
    STRONGROOM_REDIS_URL: 'rediss://u:MARKER4242@r:6379',
  };
  /** Returns the problems with the store addresses in these variables. */
  const problemsOf = (env: Record<string, string>): readonly string[] => {
    try {
      storeUrls(config({ env }));
      return [];
    } catch (error) {
      if (!(error instanceof StoreProblem)) throw error;
      return error.message.split('\n');
    }
  };
  /** Returns the problems with the store addresses if these variables replace the valid ones. */
  const refused = (env: Record<string, string>) => problemsOf({ ...stores, ...env });
  const fileWith = (text: string): string => fileOf(`${text}\n`);
  /** Returns all variables except the one with this name. */
  const without = (name: string): Record<string, string> =>
    Object.fromEntries(Object.entries(stores).filter(([other]) => other !== name));

  it('runs all work in each process unless a role is given', () => {
    expect(config({ env: stores }).settings).toMatchObject({ profile: 'cluster', role: 'all', insecure_stores: false });
    expect(config({ env: stores, flags: { role: 'worker' } }).settings.role).toBe('worker');
    expect(problems({ env: stores, flags: { role: 'reader' } })).toEqual(['--role: must be one of all, api, worker']);
  });

  it('requires the address of each store, or a file that contains it', () => {
    expect(problems({ flags: { profile: 'cluster' } })).toEqual([
      expect.stringMatching(
        /^eventstore\.url: the cluster profile needs it; set eventstore\.url or eventstore\.url_file$/,
      ),
      expect.stringMatching(/^mongodb\.url: /),
      expect.stringMatching(/^redis\.url: /),
    ]);
    const env = { ...without('STRONGROOM_REDIS_URL'), STRONGROOM_REDIS_URL_FILE: '/r' };
    expect(problems({ env })).toEqual([]);
  });

  it.each([
    'STRONGROOM_EVENTSTORE_URL',
    'STRONGROOM_MONGODB_URL',
    'STRONGROOM_MONGODB_KEYS_URL',
    'STRONGROOM_REDIS_URL',
  ])('%s and its file must not both be given', (name) => {
    const env = { STRONGROOM_MONGODB_KEYS_URL: stores.STRONGROOM_MONGODB_URL, ...stores, [`${name}_FILE`]: '/x' };
    expect(problems({ env })).toEqual([expect.stringMatching(`^${name}: .*${name}_FILE.* remove one of them$`)]);
  });

  it('has roles, and no dev mode', () => {
    expect(problems({ env: stores, flags: { dev: true } })).toEqual(['--dev: is for the embedded profile; remove it']);
    expect(problems({ flags: { role: 'api' } })).toEqual([
      '--role: is for the cluster profile; set profile to cluster, or remove it',
    ]);
  });

  it.each([
    ['STRONGROOM_EVENTSTORE_URL', 'http://e:2113'],
    ['STRONGROOM_MONGODB_URL', 'mongo://a'],
    ['STRONGROOM_REDIS_URL', 'r:6379'],
  ])(
    '%s must be an address of the right kind, whether in a variable or in a file, and the message does not repeat it: %s',
    (name, url) => {
      expect(problems({ env: { ...stores, [name]: url } })).toEqual([
        expect.stringMatching(`^${name}: must be an address`),
      ]);
      const inFile = problemsOf({ ...without(name), [`${name}_FILE`]: fileWith(url) });
      expect(inFile).toEqual([expect.stringMatching(/_file: the content of \S+ must be an address/)]);
      expect(JSON.stringify(inFile)).not.toContain(url);
    },
  );

  it('reads addresses from files without the line ending, and by default keeps keys on the same database server as rows', () => {
    const env = {
      ...without('STRONGROOM_REDIS_URL'),
      STRONGROOM_REDIS_URL_FILE: fileWith(stores.STRONGROOM_REDIS_URL),
    };
    const urls = storeUrls(config({ env }));
    const mongodb = stores.STRONGROOM_MONGODB_URL;
    const expected = { eventstore: stores.STRONGROOM_EVENTSTORE_URL, mongodb, keys: mongodb };
    expect(urls).toEqual({ ...expected, redis: stores.STRONGROOM_REDIS_URL });
    const keys = mongodb.replace('u:', 'k:');
    const apart = storeUrls(config({ env: { ...env, STRONGROOM_MONGODB_KEYS_URL_FILE: fileWith(keys) } }));
    expect(apart).toMatchObject({ mongodb, keys });
  });

  it('names a file that it cannot read', () => {
    expect(refused({ STRONGROOM_MONGODB_KEYS_URL_FILE: '/nowhere/url' })).toEqual([
      'mongodb.keys_url_file: /nowhere/url cannot be read. Check the path and its permissions.',
    ]);
  });

  it('rejects a file that other users can access, and says how to correct this', () => {
    const file = fileWith(stores.STRONGROOM_MONGODB_URL);
    chmodSync(file, 0o640);
    expect(refused({ STRONGROOM_MONGODB_KEYS_URL_FILE: file })).toEqual([
      `mongodb.keys_url_file: ${file} contains the address of a store, so it must be accessible to its owner only: mode 0600 ` +
        `or 0400. Run: chmod 600 ${file}`,
    ]);
  });

  it.each([
    ['STRONGROOM_EVENTSTORE_URL', 'esdb://u:p@e?tls=false', /^eventstore\.url: lacks TLS\./],
    ['STRONGROOM_EVENTSTORE_URL', 'esdb://e:2113', /^eventstore\.url: lacks a password\./],
    ['STRONGROOM_EVENTSTORE_URL', 'esdb://u:p@e?tlsVerifyCert=false', /^eventstore\.url: lacks a check of the cert/],
    ['STRONGROOM_MONGODB_URL', 'mongodb://a/?replicaSet=rs0', /^mongodb\.url: lacks TLS and a password\./],
    ['STRONGROOM_MONGODB_URL', 'mongodb+srv://u:p@a/?tls=false', /^mongodb\.url: lacks TLS\./],
    [
      'STRONGROOM_MONGODB_URL',
      'mongodb://u:p@a/?tls=true&tlsInsecure=true',
      /^mongodb\.url: lacks a check of the cert/,
    ],
    ['STRONGROOM_MONGODB_KEYS_URL', 'mongodb://u:p@a/?tlsAllowInvalidHostnames=true&tls=true', /^mongodb\.keys_url: /],
    ['STRONGROOM_REDIS_URL', 'redis://u:p@r', /^redis\.url: lacks TLS\./],
    ['STRONGROOM_REDIS_URL', 'rediss://r', /^redis\.url: lacks a password\./],
  ])('%s must not be %s, unless insecure_stores allows it', (name, url, message) => {
    const env: Record<string, string> = { STRONGROOM_MONGODB_KEYS_URL: stores.STRONGROOM_MONGODB_URL, [name]: url };
    expect(refused(env)).toEqual([expect.stringMatching(message)]);
    expect(refused({ ...env, STRONGROOM_INSECURE_STORES: 'true' })).toEqual([]);
  });

  it.each([
    ['STRONGROOM_MONGODB_URL', 'mongodb+srv://u:p@a/'],
    ['STRONGROOM_MONGODB_URL', 'mongodb://u:p@a/?ssl=true'],
    ['STRONGROOM_MONGODB_URL', 'mongodb://a/?tls=true&authMechanism=MONGODB-X509'],
    ['STRONGROOM_EVENTSTORE_URL', 'esdb+discover://u:p@e'],
    ['STRONGROOM_REDIS_URL', 'rediss://:p@r'],
  ])('%s may be %s', (name, url) => {
    expect(refused({ [name]: url })).toEqual([]);
  });

  it('rejects credentials in a flag, because every user of the machine can see the arguments', () => {
    const flags = { mongodbUrl: stores.STRONGROOM_MONGODB_URL, redisUrl: 'rediss://h:6379/0?password=MARKER4242' };
    expect(problems({ env: stores, flags })).toEqual([
      '--mongodb-url: may contain credentials, which other users can see; use --mongodb-url-file',
      '--redis-url: may contain credentials, which other users can see; use --redis-url-file',
    ]);
    expect(problems({ env: stores, flags: { mongodbUrl: 'mongodb://a/?replicaSet=rs0' } })).toEqual([]);
    // An option that the vault does not know could be a secret.
    expect(problems({ env: stores, flags: { mongodbUrl: 'mongodb://a/?maxPoolSize=50' } })).toEqual([
      '--mongodb-url: may contain credentials, which other users can see; use --mongodb-url-file',
    ]);
  });

  it('is printed without the passwords in the store addresses', () => {
    const text = JSON.stringify(shownSettings(config({ env: stores })));
    expect(text).not.toContain('MARKER4242');
    expect(text).toContain('rediss://[hidden]@r:6379');
    expect(text).toContain('mongodb://[hidden]@a,b/?replicaSet=rs0&tls=true');
  });

  it.each([
    ['STRONGROOM_MONGODB_URL', 'mongodb://user:MARKER/4242@h/x'],
    ['STRONGROOM_MONGODB_URL', 'mongodb://user:MARKER?4242@h/x'],
    ['STRONGROOM_MONGODB_URL', 'mongodb://user:MARKER#4242@h/x'],
    ['STRONGROOM_MONGODB_URL', 'mongodb://user:MARKER 4242@h/x'],
    ['STRONGROOM_MONGODB_URL', 'mongodb://user:MARKER@4242@h/x'],
    ['STRONGROOM_MONGODB_URL', 'mongodb://user:MARKER/4242'],
    ['STRONGROOM_MONGODB_URL', 'mongodb://h,user:1/MARKER4242@h2/x'],
    ['STRONGROOM_EVENTSTORE_URL', 'esdb://user:MARKER/4242@h'],
    ['STRONGROOM_EVENTSTORE_URL', 'esdb://user:12?tls=true&w=MARKER4242@h'],
    ['STRONGROOM_REDIS_URL', 'rediss://user:MARKER/4242@h'],
    ['STRONGROOM_REDIS_URL', 'rediss://:MARKER#4242@h'],
    ['STRONGROOM_REDIS_URL', 'rediss://:MARKER?4242@h'],
    ['STRONGROOM_REDIS_URL', 'rediss://h:6379/0?password=MARKER4242'],
    ['STRONGROOM_REDIS_URL', 'rediss://h:6379/0?family=4;password=MARKER4242'],
    ['STRONGROOM_REDIS_URL', 'rediss://h?MARKER4242'],
    ['STRONGROOM_MONGODB_URL', 'mongodb://u:p@h/x?tlsCertificateKeyFilePassword=MARKER4242'],
    ['STRONGROOM_MONGODB_URL', 'mongodb://u:p@h/x?authMechanismProperties=AWS_SESSION_TOKEN:MARKER4242'],
    ['STRONGROOM_MONGODB_URL_FILE', 'mongodb://user:MARKER/4242@h/x'],
    ['STRONGROOM_MONGODB_URL_FILE', 'user:MARKER/4242@h/x'],
  ])('is printed without the secrets in an unusual or misspelled address: %s=%s', (name, url) => {
    const env = { ...without(name.replace('_FILE', '')), [name]: url };
    const text = JSON.stringify(shownSettings(config({ env }))).replaceAll('u:MARKER4242@', '');
    expect(text).not.toMatch(/MARKER|4242/);
  });

  it('is printed with the hosts, the path and harmless options of an address', () => {
    const shown = (url: string) =>
      shownSettings(config({ env: { ...stores, STRONGROOM_MONGODB_URL: url } })).find(
        ({ path }) => path === 'mongodb.url',
      )?.value;
    expect(shown('mongodb://u:p@a:1,[::1]:2/vault?replicaSet=rs0&proxyPassword=x&tlsCAFile=/a/b.pem')).toBe(
      'mongodb://[hidden]@a:1,[::1]:2/vault?replicaSet=rs0&proxyPassword=[hidden]&tlsCAFile=/a/b.pem',
    );
    expect(shown('mongodb://h/p@th')).toBe('[hidden]');
  });

  it('does not repeat an address that is in the setting for a file by mistake', () => {
    const problems = refused({ STRONGROOM_MONGODB_KEYS_URL_FILE: 'mongodb://user:MARKER/4242@h/x' });
    expect(problems).toEqual(['mongodb.keys_url_file: [hidden] cannot be read. Check the path and its permissions.']);
  });
});

describe('config print', () => {
  const given = {
    env: { STRONGROOM_ROOT_KEY_COMMAND: '["vault","--token","MARKER4242"]', STRONGROOM_DATA: 'x://u:MARKER4242@h/p' },
    file: { auth: { header_aliases: ['X-A', 'X-B'] } },
    flags: { port: '0' },
  };

  it('shows each value with its source, and replaces secrets', () => {
    const shown = shownSettings(config(given));
    expect(shown.map(({ path }) => path)).toEqual(settingPaths);
    expect(shown).toEqual(
      expect.arrayContaining([
        { path: 'host', value: '127.0.0.1', source: 'default' },
        { path: 'port', value: 0, source: 'flag' },
        { path: 'auth.header_aliases', value: ['x-a', 'x-b'], source: 'file' },
        { path: 'root_key_command', value: '[hidden]', source: 'environment' },
        { path: 'data', value: 'x://[hidden]@h/p', source: 'environment' },
        { path: 'tls.cert', value: null, source: 'default' },
      ]),
    );
    expect(JSON.stringify(shown)).not.toContain('MARKER4242');
  });
});

describe('the table of settings', () => {
  it('contains a description for each setting, and defaults that are valid values', () => {
    for (const path of settingPaths) {
      const { schema, doc, default: value } = settings[path];
      expect(schema.safeParse(value).success, path).toBe(true);
      expect(doc, path).toMatch(/^[A-Z].*\.$/);
    }
  });
});
