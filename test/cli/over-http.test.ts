import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { newApiKey } from '#src/domain/tenancy/api-key.js';
import { makeCertificate } from '../support/certificate.js';
import {
  type Ended,
  http,
  makeVault,
  type RunOptions,
  run,
  runJson,
  startService,
  tempDir,
} from '../support/process.js';

const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };

/**
 * Creates a vault and starts its service. Returns two sets of options: `local` opens the vault's data directly, and
 * `remote` sends requests to the service's address.
 */
async function servedVault(serveFlags: readonly string[] = []) {
  const vault = await makeVault();
  const file = (name: string, text: string) => {
    const path = join(vault.dir, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const keyFile = file('app.key', `${vault.key}\n`);
  const managementKeyFile = file('management.key', `${vault.managementKey}\n`);
  const service = await startService([...vault.flags, ...serveFlags]);
  const at = ['--address', service.address];
  return {
    ...vault,
    service,
    file,
    keyFile,
    managementKeyFile,
    local: [...vault.flags, '--api-key-file', keyFile],
    remote: [...at, '--api-key-file', keyFile],
    asOperator: vault.flags,
    asManagement: [...at, '--api-key-file', managementKeyFile],
  };
}

/**
 * Runs a command with the local options and then with the remote options. Checks that the results are equal, and
 * returns one of them.
 */
async function runBoth(
  args: readonly string[],
  [local, remote]: readonly [readonly string[], readonly string[]],
  options: RunOptions = {},
): Promise<Ended> {
  const [first, second] = [await run([...args, ...local], options), await run([...args, ...remote], options)];
  expect(second, args.join(' ')).toEqual(first);
  return second;
}

/** Replaces the parts of the output that differ between two new tokens or applications, such as ids, times and keys. */
function withoutOwn(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, '<uuid>')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '<entity ref>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+\+00:00/g, '<time>')
    .replaceAll(/sr_[a-z]+_[0-9A-Za-z]+/g, '<key>');
}

describe('a command prints the same through an address as on local data', () => {
  test.each([[], ['--json']])('for tokens create, get, search and delete %s', async (...flags) => {
    const vault = await servedVault();
    const ways = [vault.local, vault.remote] as const;
    const request = { type: 'card', data: card, metadata: { b: '2', a: '1' }, mask: '{{ data.number | last4 }}' };
    const created = [];
    for (const way of ways) {
      const ended = await run(['tokens', 'create', ...flags, ...way], { stdin: JSON.stringify(request) });
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      created.push(ended.stdout);
    }
    const [local = '', remote = ''] = created;
    expect(withoutOwn(remote)).toBe(withoutOwn(local));
    const token = JSON.parse(remote) as JsonObject;
    expect(token).toMatchObject(request);

    const shown = await runBoth(['tokens', 'get', String(token['id']), ...flags], ways);
    expect(shown).toEqual({ code: 0, signal: null, stdout: remote, stderr: '' });
    for (const query of ['type:card', 'metadata.a:1', 'type:token', 'metadata.c:1']) {
      expect(await runBoth(['tokens', 'search', query, ...flags], ways)).toMatchObject({ code: 0, stderr: '' });
    }
    await runBoth(['tokens', 'search', 'type:card', '--page', '2', '--size', '1', ...flags], ways);
    await runBoth(['tokens', 'search', '-', ...flags], ways, { stdin: `data:"${card.number}"\n` });

    const deleted = [];
    for (const [index, way] of ways.entries()) {
      const { id } = JSON.parse(created[index] ?? '') as JsonObject;
      deleted.push(await run(['tokens', 'delete', String(id), ...flags, ...way]));
    }
    expect(deleted[1]).toEqual(deleted[0]);
    expect(deleted[1]).toMatchObject({ code: 0, stderr: '' });
    for (const verb of ['get', 'delete']) {
      const gone = await runBoth(['tokens', verb, String(token['id']), ...flags], ways);
      expect(gone).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/no such token/) });
    }
  });

  test('for ids with characters that have a meaning in a path, and for ids that match no token', async () => {
    const vault = await servedVault();
    const ways = [vault.local, vault.remote] as const;
    const id = 'ünïcode name:(1)~!$*\'",;@ 2F..';
    const stdin = JSON.stringify({ id, type: 'token', data: [1, null, { a: 'x' }] });
    expect(await run(['tokens', 'create', ...vault.remote], { stdin })).toMatchObject({ code: 0, stderr: '' });
    expect(await runBoth(['tokens', 'get', id], ways)).toMatchObject({ code: 0 });
    for (const other of ['', '..', '../health/live', 'search', 'x?y=1#z%']) {
      for (const verb of ['get', 'delete']) {
        const ended = await runBoth(['tokens', verb, other], ways);
        expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/no such token/) });
      }
    }
    expect(await run(['tokens', 'delete', id, ...vault.remote])).toMatchObject({ code: 0, stdout: 'deleted\n' });
  });

  test('for applications create and list, even with more applications than fit on one page', async () => {
    const vault = await servedVault();
    const ways = [vault.asOperator, vault.asManagement] as const;
    const rules = vault.file('rules.json', '[{"container":"/pci/","transform":"mask","permissions":["token:read"]}]');
    for (const [type, ...access] of [
      ['public', '--permissions', 'token:create'],
      ['private', '--rules', rules],
      ['management', '--permissions', 'application:read,application:create'],
    ]) {
      const args = ['applications', 'create', '--name', 'till', '--type', String(type), ...access];
      for (const flags of [[], ['--json']]) {
        const [local, remote] = [
          await run([...args, ...flags, ...ways[0]]),
          await run([...args, ...flags, ...ways[1]]),
        ];
        expect(remote).toMatchObject({ code: 0, stderr: '' });
        expect(withoutOwn(remote.stdout)).toBe(withoutOwn(local.stdout));
      }
    }
    const { id, key } = await runJson([
      'applications',
      'create',
      '--name',
      'reader',
      '--type',
      'private',
      '--permissions',
      'token:read',
      ...ways[1],
    ]);
    const own = await http('GET', `${vault.service.address}/applications/key`, { key: String(key) });
    expect(own.body).toMatchObject({ id, name: 'reader', permissions: ['token:read'] });

    const body = { name: 'one of many', type: 'public', permissions: ['token:create'] };
    for (let count = 0; count < 100; count += 1) {
      const url = `${vault.service.address}/applications`;
      expect(await http('POST', url, { key: vault.managementKey, body })).toMatchObject({ status: 201 });
    }
    const listed = await runBoth(['applications', 'list', '--json'], ways);
    const { applications } = JSON.parse(listed.stdout) as { applications: readonly JsonObject[] };
    expect(new Set(applications.map((application) => application['id'])).size).toBe(115);
    expect(listed.stdout).not.toMatch(/sr_|hash/);
    expect(await runBoth(['applications', 'list'], ways)).toMatchObject({ code: 0, stderr: '' });
  });

  test('for requests that the vault rejects', async () => {
    const vault = await servedVault();
    const ways = [vault.local, vault.remote] as const;
    const rejected = async (args: readonly string[], stdin: string, message: RegExp) => {
      const ended = await runBoth(args, ways, { stdin });
      expect(ended, args.join(' ')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
      expect(ended.stderr).not.toMatch(/marker-7781|^\s+at /m);
    };
    await rejected(['tokens', 'create'], '{"type":"card","data":{"number":"4242424242424241"}}', /^data\.number: /);
    await rejected(['tokens', 'create'], '{"type":"token","data":"marker-7781"', /^the request /);
    await rejected(['tokens', 'create'], '{"type":"crd","data":"marker-7781"}', /^type: must be one of/);
    await rejected(['tokens', 'create'], '[]', /must be a JSON object/);
    await rejected(['tokens', 'create'], '{"type":"token"}', /^data: is required/);
    await rejected(['tokens', 'search', 'data:"marker-7781'], '', /^query: /);
    const stdin = '{"id":"taken","type":"token","data":"marker-7781"}';
    expect(await run(['tokens', 'create', ...vault.remote], { stdin })).toMatchObject({ code: 0 });
    await rejected(['tokens', 'create'], stdin, /id is in use|Another token/i);

    const management = [vault.asOperator, vault.asManagement] as const;
    const create = ['applications', 'create', '--name', 'a', '--type'];
    for (const [args, message] of [
      [[...create, 'public', '--permissions', 'token:create,token:delete'], /permissions\[1\]: /],
      [[...create, 'private', '--permissions', ''], /permissions/],
      [[...create, 'public', '--permissions', 'token:create', '--name', ''], /name: /],
    ] as const) {
      const ended = await runBoth(args, management);
      expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
    }
  });
});

describe('the address and the key', () => {
  test('come from flags, variables, a file or standard input, and a flag takes precedence', async () => {
    const { service, key, keyFile, file } = await servedVault();
    const at = { STRONGROOM_ADDRESS: service.address };
    const search = (args: readonly string[], options: RunOptions) => run(['tokens', 'search', '', ...args], options);
    const dead = 'http://127.0.0.1:1';
    const wrongKey = newApiKey('private', (max) => max - 1);
    const wrongFile = file('wrong.key', wrongKey);
    for (const [args, options] of [
      [['--api-key-file', keyFile], { env: at }],
      [['--api-key-file', '-'], { env: at, stdin: `${key}\n` }],
      [[], { env: { ...at, STRONGROOM_API_KEY: key } }],
      [[], { env: { ...at, STRONGROOM_API_KEY_FILE: keyFile } }],
      [['--address', service.address], { env: { STRONGROOM_ADDRESS: dead, STRONGROOM_API_KEY: key } }],
      [['--api-key-file', keyFile], { env: { ...at, STRONGROOM_API_KEY: wrongKey } }],
      [['--api-key-file', keyFile], { env: { ...at, STRONGROOM_API_KEY_FILE: wrongFile } }],
    ] as const) {
      const ended = await search(args, options);
      expect(ended, JSON.stringify([args, options])).toMatchObject({ code: 0, stdout: '0 tokens found\n', stderr: '' });
    }
  });

  test('come from local data if no address is set and only the variable with the key is', async () => {
    const { flags, key } = await servedVault();
    const ended = await run(['tokens', 'search', '', ...flags], { env: { STRONGROOM_API_KEY: key } });
    expect(ended).toMatchObject({ code: 0, stdout: '0 tokens found\n', stderr: '' });
  });

  test('are ignored by serve, init, import, export and the operator commands if variables set them', async () => {
    const vault = await makeVault();
    const keyFile = join(vault.dir, 'app.key');
    writeFileSync(keyFile, vault.key, { mode: 0o600 });
    const env = { STRONGROOM_ADDRESS: 'no address at all', STRONGROOM_API_KEY: 'no key', STRONGROOM_API_KEY_FILE: '' };
    const as = [...vault.flags, '--api-key-file', keyFile];
    const lines = '{"id":"imported","type":"token","data":"x"}\n';
    expect(await run(['tokens', 'import', '-', ...as], { env, stdin: lines })).toMatchObject({ code: 0, stderr: '' });
    expect(await run(['tokens', 'export', '--plaintext', '--out', '-', ...as], { env })).toMatchObject({ code: 0 });
    expect(await run(['tenants', 'list', ...vault.flags], { env })).toMatchObject({ code: 0, stderr: '' });
    expect(await run(['audit', 'history', 'imported', ...as], { env })).toMatchObject({ code: 0 });
    expect(await run(['config', 'print'], { env })).toMatchObject({
      code: 0,
      stdout: expect.not.stringMatching(/no key/),
    });
    const initialized = join(tempDir(), 'data');
    const init = ['init', '--data', initialized, '--root-key-file', vault.rootKeyFile];
    expect(await run(init, { env })).toMatchObject({ code: 0 });
    const service = await startService(vault.flags, { env });
    expect(await http('GET', `${service.address}/tokens/imported`, { key: vault.key })).toMatchObject({ status: 200 });
    for (const verb of [
      ['import', 'x'],
      ['export', '--out', '-', '--plaintext'],
    ]) {
      const ended = await run(['tokens', ...verb, '--address', service.address, ...as]);
      expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(/unknown option '--address'/) });
    }
  });
});

describe('a request that the service does not allow', () => {
  test('with 401, 403 or 429: the message explains what to do', async () => {
    const { service, remote, asManagement, keyFile, flags, file } = await servedVault();
    const unknown = file(
      'unknown.key',
      newApiKey('private', () => 7),
    );
    const at = ['--address', service.address, '--api-key-file'];
    expect(await run(['tokens', 'get', 'some-id', ...at, unknown])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `no application of ${service.address} has the API key from ${unknown}, or the key has expired.\n`,
    });
    const forbidden = await run(['tokens', 'get', 'some-id', ...asManagement]);
    expect(forbidden).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/token:read.*Use the key of/),
    });
    const notManagement = await run(['applications', 'list', ...remote]);
    expect(notManagement).toMatchObject({ code: 1, stderr: expect.stringMatching(/application:read/) });
    await service.stop();

    const limited = await startService([...flags, '--rate-limit-requests', '1', '--rate-limit-window-seconds', '3600']);
    const get = () => run(['tokens', 'get', 'some-id', '--address', limited.address, '--api-key-file', keyFile]);
    expect(await get()).toMatchObject({ code: 1, stderr: expect.stringMatching(/no such token/) });
    expect(await get()).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/more requests than its limit allows.* Retry after \d+ seconds\.\n$/),
    });
  });

  test('with a body that is too large: the message says so', async () => {
    const { remote } = await servedVault();
    const stdin = JSON.stringify({ type: 'token', data: 'x'.repeat(5 * 1024 * 1024) });
    const ended = await run(['tokens', 'create', ...remote], { stdin });
    expect(ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/larger than 4 MiB|broke before/),
    });
  });
});

const key = newApiKey('private', (max) => max - 3);

/** Runs a command with a key against this address, and checks that the output does not contain the key. */
async function runAt(
  address: string,
  args: readonly string[] = ['tokens', 'delete', 'some-id'],
  options: RunOptions = {},
) {
  const ended = await run([...args, '--address', address], {
    ...options,
    env: { STRONGROOM_API_KEY: key, ...options.env },
  });
  expect(ended.stdout + ended.stderr).not.toContain(key);
  expect(ended.stderr).not.toMatch(/^\s+at |[^\P{Cc}\n]/mu);
  return ended;
}

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serverOf = (listener: RequestListener) => listening(createServer(listener));

describe('a server that is not the vault', () => {
  const html = { 'content-type': 'text/html', 'retry-after': '30' };
  const json = { 'content-type': 'application/json' };
  const fromVault = { ...json, 'service-trace-id': 'trace-1' };
  const problem = { 'content-type': 'application/problem+json', 'service-trace-id': 'trace-1' };
  const notFound = '{"code":"token_not_found","title":"t","detail":"There is no such token."}';
  const answers: readonly (readonly [string, RequestListener, RegExp])[] = [
    [
      'an HTML page',
      (_, response) => response.writeHead(200, html).end('<h1>It works</h1>'),
      /status 200 is not from Strongroom \(text\/html\)/,
    ],
    [
      'a gateway without its service',
      (_, response) => response.writeHead(502, html).end('<h1>Bad gateway</h1>'),
      /status 502 is not.*proxy.*Retry after 30 seconds/,
    ],
    ['a success without a body', (_, response) => response.writeHead(204).end(), /status 204 is not/],
    [
      'JSON from another service',
      (_, response) => response.writeHead(404, json).end('{"error":"no such route"}'),
      /status 404 is not/,
    ],
    ['invalid JSON', (_, response) => response.writeHead(400, fromVault).end('{"code":'), /status 400 is not/],
    [
      'the wrong status',
      (_, response) => response.writeHead(200, fromVault).end('{"id":"some-id"}'),
      /status 200 is not/,
    ],
    [
      'a problem that repeats the request and contains terminal control characters',
      (request, response) => {
        const detail = `\u001b[2J${JSON.stringify(request.headers)}`;
        response.writeHead(418, problem).end(JSON.stringify({ code: 'teapot', title: 'Teapot', detail }));
      },
      /^Teapot\. \\u001b\[2J.*service-api-key\\":\\"\[API key\]|^Teapot\. .*\[API key\]/,
    ],
    [
      'a field error that repeats the request',
      (request, response) => {
        const errors = { [String(request.headers['service-api-key'])]: [`is ${request.headers['service-api-key']}`] };
        response
          .writeHead(400, problem)
          .end(JSON.stringify({ code: 'validation_failed', title: 't', detail: 'd', errors }));
      },
      /^\[API key\]: is \[API key\]/,
    ],
    [
      'an internal error of the service',
      (_, response) =>
        response.writeHead(500, problem).end('{"code":"internal","title":"t","detail":"Something went wrong here."}'),
      /something went wrong here\..* The trace id is trace-1\./,
    ],
    [
      'an unknown route',
      (_, response) => response.writeHead(404, problem).end('{"code":"not_found","title":"t","detail":"d"}'),
      /does not know this request.*version/,
    ],
    [
      'a connection that ends without a response',
      (request) => request.socket.destroy(),
      /broke before the response was complete.*Check whether/,
    ],
    [
      'a truncated response',
      (_, response) => {
        response.writeHead(200, { ...fromVault, 'content-length': '100' }).write('{"id":');
        setImmediate(() => response.destroy());
      },
      /broke before the response was complete/,
    ],
  ];

  test.each(answers)('%s', async (_what, listener, message) => {
    const ended = await runAt(await serverOf(listener));
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(message);
  });

  test.each<readonly [string, readonly string[], number, string]>([
    ['a token without an id', ['tokens', 'get', 'some-id'], 200, '{"data":"x"}'],
    ['a page without its totals', ['tokens', 'search', 'id:x'], 200, '{"data":[]}'],
    ['a list that is not one', ['applications', 'list'], 200, '{"pagination":{},"data":{}}'],
    [
      'an application without its key',
      ['applications', 'create', '--name', 'a', '--type', 'private', '--permissions', 'token:read'],
      201,
      '{"id":"a","tenant_id":"t","name":"a","type":"private"}',
    ],
  ])('%s', async (_what, args, status, body) => {
    const ended = await runAt(await serverOf((_, response) => response.writeHead(status, fromVault).end(body)), args);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain(`with status ${status} is not from Strongroom`);
  });

  test('a token without a trace id, as from another service', async () => {
    const address = await serverOf((_, response) => response.writeHead(200, json).end('{"id":"some-id"}'));
    const ended = await runAt(address, ['tokens', 'get', 'some-id']);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('with status 200 is not from Strongroom');
  });

  test.each([302, 308])('a redirect with %i is not followed', async (status) => {
    const asked: string[] = [];
    const other = await serverOf((request, response) => {
      asked.push(String(request.url));
      response.end();
    });
    const address = await serverOf((_, response) =>
      response.writeHead(status, { location: `${other}/tokens/some-id` }).end(),
    );
    for (const args of [
      ['tokens', 'get', 'some-id'],
      ['tokens', 'delete', 'some-id'],
    ]) {
      const ended = await runAt(address, args);
      expect(ended).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/redirects to another address.*--address/),
      });
    }
    expect(asked).toEqual([]);
  });

  test('a command gives up if the server accepts the connection and sends nothing, or never ends its response', async () => {
    const silent = await listening(createTcpServer(() => undefined));
    const limit = ['--timeout-seconds', '1'];
    expect(await runAt(silent, ['tokens', 'delete', 'some-id', ...limit])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `${silent} did not respond within 1 s (--timeout-seconds allows more). Check whether the command took effect before you repeat it.\n`,
    });
    const drip = await serverOf((_, response) => {
      response.writeHead(200, fromVault);
      const timer = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(timer));
    });
    const dripped = await runAt(drip, ['tokens', 'get', 'some-id', ...limit]);
    expect(dripped).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/within 1 s .* Try again\.\n$/),
    });
    const endless = await serverOf((_, response) => {
      response.writeHead(200, fromVault);
      const chunk = Buffer.alloc(1024 * 1024, ' ');
      const write = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', write);
      write();
    });
    expect(await runAt(endless, ['tokens', 'get', 'some-id'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/is not from Strongroom: it is too large/),
    });
  });

  test('a server that speaks neither HTTP nor TLS is reported', async () => {
    const mail = await listening(createTcpServer((socket) => socket.end('220 mail.example.com ESMTP\r\n')));
    expect(await runAt(mail)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/does not speak HTTP/),
    });
    const tls = mail.replace('http:', 'https:');
    expect(await runAt(tls)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/does not speak TLS/),
    });
  });

  test('a proxy named in the environment receives nothing, because commands ignore it', async () => {
    const asked: string[] = [];
    const proxy = await serverOf((request, response) => {
      asked.push(String(request.url));
      response.end();
    });
    // In Node.js 24, these variables make the default agent send its requests through the proxy.
    const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy, HTTPS_PROXY: proxy, http_proxy: proxy };
    const target = await serverOf((_, response) => response.writeHead(404, problem).end(notFound));
    const ended = await runAt(target, ['tokens', 'get', 'some-id'], { env });
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/no such token/) });
    expect(asked).toEqual([]);
  });

  test('an address at which no server listens is reported', async () => {
    const address = 'http://127.0.0.1:1';
    expect(await runAt(address)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `nothing is listening at ${address}. Check --address, and that the service is running.\n`,
    });
    const env = { STRONGROOM_ADDRESS: address, STRONGROOM_API_KEY: key };
    const named = await run(['tokens', 'get', 'some-id'], { env });
    expect(named).toMatchObject({ code: 1, stderr: expect.stringMatching(/Check STRONGROOM_ADDRESS/) });
    const unknown = await runAt('https://vault.invalid');
    expect(unknown).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/host name.*cannot be resolved/),
    });
  });
});

describe('TLS', () => {
  /** Creates a self-signed certificate that is valid for these names. */
  function certificate(dir: string, names: string) {
    const { cert, key: certKey } = makeCertificate(dir, 'vault', names);
    return { cert, certKey, flags: ['--tls-cert', cert, '--tls-key', certKey] };
  }

  test('a server with an untrusted certificate receives no byte of the request', async () => {
    const { cert, certKey } = certificate(tempDir(), 'IP:127.0.0.1');
    const received: Buffer[] = [];
    const server = createTlsServer({ cert: readFileSync(cert), key: readFileSync(certKey) }, (socket) =>
      socket
        .on('data', (bytes) => {
          received.push(bytes);
          socket.end();
        })
        .on('error', () => undefined),
    );
    const address = (await listening(server)).replace('http:', 'https:');
    for (const version of ['1.2', '1.3']) {
      const env = { NODE_OPTIONS: `--tls-min-v${version} --tls-max-v${version}` };
      const ended = await runAt(address, undefined, { env });
      expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/Nothing was sent/) });
    }
    expect(Buffer.concat(received).toString()).toBe('');
    await runAt(address, ['tokens', 'get', 'some-id'], { env: { NODE_EXTRA_CA_CERTS: cert } });
    expect(Buffer.concat(received).toString()).toContain(`service-api-key: ${key}`);
  });

  test('an authority from NODE_EXTRA_CA_CERTS is trusted, no other one is, and the check cannot be turned off', async () => {
    const { cert, flags } = certificate(tempDir(), 'IP:127.0.0.1');
    const { service, remote, key: appKey } = await servedVault(flags);
    expect(service.address).toMatch(/^https:/);
    const trusting = { NODE_EXTRA_CA_CERTS: cert };
    const stdin = '{"id":"over-tls","type":"token","data":"x"}';
    expect(await run(['tokens', 'create', ...remote], { stdin, env: trusting })).toMatchObject({ code: 0, stderr: '' });
    for (const env of [{}, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }]) {
      const ended = await run(['tokens', 'delete', 'over-tls', ...remote], { env });
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(ended.stderr).toMatch(
        /certificate .* is not signed by an authority.*Nothing was sent.*NODE_EXTRA_CA_CERTS/,
      );
    }
    const localhost = service.address.replace('127.0.0.1', 'localhost');
    expect(await runAt(localhost, undefined, { env: trusting })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/certificate .* is for another name/),
    });
    expect(await runAt(service.address.replace('https:', 'http:'))).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/If it serves TLS, use https:\/\/ in --address/),
    });
    const kept = await run(['tokens', 'get', 'over-tls', ...remote], { env: trusting });
    expect(kept).toMatchObject({ code: 0 });
    expect(service.stdout() + service.stderr()).not.toContain(appKey);
  });

  test('a key and data are sent in plaintext only if the option allows it', async () => {
    const { service, remote, file, key: appKey } = await servedVault();
    const asked: string[] = [];
    const plain = await serverOf((request, response) => {
      asked.push(String(request.url));
      response.end();
    });
    const elsewhere = plain.replace('127.0.0.1', '0.0.0.0');
    for (const address of [
      elsewhere,
      'http://vault.example.com',
      'http://10.0.0.1:8080',
      'http://[::ffff:7f00:1]:80',
    ]) {
      const ended = await runAt(address);
      expect(ended, address).toMatchObject({ code: 2, stdout: '' });
      expect(ended.stderr).toMatch(
        /^--address: http:.* in plaintext. Use https:.*--allow-plaintext-http.*Nothing was sent/,
      );
    }
    expect(asked).toEqual([]);
    const keyFile = file('another.key', appKey);
    const allowed = ['--address', service.address.replace('127.0.0.1', '0.0.0.0'), '--allow-plaintext-http'];
    const found = await run(['tokens', 'search', '', '--api-key-file', keyFile, ...allowed]);
    expect(found).toMatchObject({ code: 0, stdout: '0 tokens found\n', stderr: '' });
    expect(await run(['tokens', 'search', '', ...remote])).toMatchObject({ code: 0 });
  });
});

describe('a usage error exits with code 2 and sends nothing', () => {
  const get = ['tokens', 'get', 'some-id'];
  const create = ['applications', 'create', '--name', 'a', '--type', 'public'];
  const address = ['--address', 'http://127.0.0.1:1'];
  const env = { STRONGROOM_API_KEY: key };
  const wrong: readonly (readonly [string, readonly string[], RegExp, RunOptions | null])[] = [
    [
      'an address without a scheme',
      [...get, '--address', 'vault.example.com:443'],
      /^--address: must be an address/,
      null,
    ],
    [
      'an address with another scheme',
      [...get, '--address', 'ftp://vault.example.com'],
      /^--address: must be an address/,
      null,
    ],
    ['an empty address', [...get, '--address', ''], /^--address: must be an address/, null],
    ['an address with a bad port', [...get, '--address', 'https://vault:port'], /^--address: must be an address/, null],
    [
      'an address with a path',
      [...get, '--address', 'https://vault.example.com/tokens'],
      /^--address: must have no path/,
      null,
    ],
    [
      'an address with a query',
      [...get, '--address', 'https://vault.example.com/?key=marker-7781'],
      /^--address: must have no path/,
      null,
    ],
    [
      'an address with a password',
      [...get, '--address', 'https://user:marker-7781@vault'],
      /^--address: must have no user and password/,
      null,
    ],
    [
      'a variable that is not an address',
      get,
      /^STRONGROOM_ADDRESS: must be an address/,
      { env: { ...env, STRONGROOM_ADDRESS: 'marker-7781' } },
    ],
    ['no key', [...get, ...address], /^specify the API key: --api-key-file FILE/, { env: {} }],
    [
      'two variables with a key',
      [...get, ...address],
      /^STRONGROOM_API_KEY: STRONGROOM_API_KEY_FILE is set too/,
      { env: { ...env, STRONGROOM_API_KEY_FILE: 'x' } },
    ],
    ['an empty file name', [...get, ...address, '--api-key-file', ''], /^--api-key-file must not be empty/, null],
    [
      'a variable that means standard input',
      [...get, ...address],
      /^STRONGROOM_API_KEY_FILE: must be a path/,
      { env: { STRONGROOM_API_KEY_FILE: '-' } },
    ],
    [
      'an address and local data',
      [...get, ...address, '--data', './data'],
      /^--data is for local data, but --address is set/,
      null,
    ],
    [
      'an address in a variable, and local data',
      ['tokens', 'delete', 'some-id', '--data', './restored'],
      /^--data is for local data, but STRONGROOM_ADDRESS is set/,
      { env: { ...env, STRONGROOM_ADDRESS: 'http://127.0.0.1:1' } },
    ],
    [
      'an address and a root key',
      [...get, ...address, '--root-key-file', 'x'],
      /^--root-key-file is for local data/,
      null,
    ],
    ['an address and a configuration file', [...get, ...address, '--config', 'x'], /^--config is for local data/, null],
    ['a timeout without an address', [...get, '--timeout-seconds', '5'], /^--timeout-seconds needs --address/, null],
    [
      'the plaintext option without an address',
      [...get, '--allow-plaintext-http'],
      /^--allow-plaintext-http needs --address/,
      null,
    ],
    ['an invalid timeout', [...get, ...address, '--timeout-seconds', '0'], /whole number from 1 to 3600/, null],
    ['a tenant and an address', ['applications', 'list', ...address, '--tenant', 'x'], /omit --tenant/, null],
    [
      'a key for an operator command',
      ['applications', 'list', '--api-key-file', 'x'],
      /^--api-key-file needs --address/,
      null,
    ],
    [
      'rules and key from standard input',
      [...create, '--rules', '-', '--api-key-file', '-'],
      /^only one of --rules and --api-key-file/,
      null,
    ],
    [
      'the key as an argument',
      [...get, ...address, `--api-key=${key}`],
      /unknown option '--api-key=\[API key\]'/,
      null,
    ],
    ['the key as a separate argument', [...get, ...address, key], /too many arguments/, null],
  ];

  test.each(wrong)('%s', async (_what, args, message, options) => {
    const cwd = tempDir();
    const { code, stdout, stderr } = await run(args, { cwd, env, ...options });
    expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/marker-7781|^\s+at /m);
    expect(stderr).not.toContain(key);
    expect(existsSync(join(cwd, 'data'))).toBe(false);
  });

  test('a string that is not an API key is never sent', async () => {
    const asked: string[] = [];
    const at = await serverOf((request, response) => {
      asked.push(String(request.url));
      response.end();
    });
    const rootKey = 'f'.repeat(64);
    for (const text of [
      rootKey,
      '',
      `${key}x`,
      key.replace(/.$/, '!'),
      `${key}\r\nx-other: 1`,
      '-----BEGIN KEY-----',
    ]) {
      for (const from of [{ stdin: text }, { env: { STRONGROOM_API_KEY: text } }]) {
        const args = 'stdin' in from ? ['--api-key-file', '-'] : [];
        const ended = await run([...get, '--address', at, ...args], from);
        expect(ended).toMatchObject({ code: 1, stdout: '' });
        expect(ended.stderr).toMatch(
          /^(standard input|STRONGROOM_API_KEY) must contain an API key \(sr_…\) and nothing else/,
        );
        if (text !== '') expect(ended.stderr).not.toContain(text);
      }
    }
    expect(asked).toEqual([]);
    const asFile = await run([...get, '--address', at, '--api-key-file', key]);
    expect(asFile).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/cannot be read from \[API key\]/),
    });
  });
});
