import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { Json, JsonObject } from '#src/domain/json.js';
import { runJson } from '../../support/process.js';
import { marker, vaultWithKeyFile } from './support.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const apiKey = 'key_N88mVGsp3sCXkykyN2EFED';

/** One value for each token type that exists in both Basis Theory and Strongroom. */
const values: readonly [type: string, data: Json][] = [
  ['token', { anything: [marker, 1, true, null] }],
  ['card', { number: '4242424242424242', expiration_month: 12, expiration_year: 2034 }],
  ['bank', { routing_number: '021000021', account_number: '1234567890' }],
  ['card_number', '36227206271667'],
  ['us_bank_account_number', '1234567890'],
  ['us_bank_routing_number', '021000021'],
  ['social_security_number', '123-45-6789'],
  ['employer_id_number', '12-3456789'],
];

/** Returns a token in the format that Basis Theory documents: https://developers.basistheory.com/docs/api/tokens/. */
function tokenOf(n: number): JsonObject {
  const [type, data] = values[n % values.length] ?? ['token', 'x'];
  return {
    id: `moved-${String(n).padStart(4, 'x')}`,
    tenant_id: '77cb0024-123e-41a8-8ff8-a3d5a0fa8a08',
    type,
    data,
    ...(type === 'token' ? { mask: { anything: '{{ data.anything[0] | reveal_last: 4 }}' } } : {}),
    containers: ['/moved/high/'],
    metadata: { customer: `c-${n % 7}`, order: 'first' },
    fingerprint: 'AKCUXS83DokKo4pDR',
    ...(type === 'card' ? { search_indexes: ['{{ data.number | last4 }}'] } : {}),
    ...(type === 'token' ? { fingerprint_expression: '{{ data.anything[0] }}' } : {}),
    ...(n % 5 === 0 ? { expires_at: '2090-08-26T19:23:57-07:00' } : {}),
    created_by: 'fb124bba-f90d-45f0-9a59-5edca27b3b4a',
    created_at: '2020-09-15T15:53:00+00:00',
    enrichments: { bin_details: { brand: 'VISA' } },
    privacy: { classification: 'pci' },
    _extras: {},
  };
}

type Respond = (request: IncomingMessage, response: ServerResponse, start: number) => boolean;

/**
 * Imitates Basis Theory's `GET /v2/tokens`. If `respond` returns true, it has already sent a response, and the stand-in
 * sends nothing.
 */
async function standIn(tokens: readonly JsonObject[], respond: Respond = () => false): Promise<string> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://api');
    const start = Number((url.searchParams.get('start') ?? 'cursor-0').slice('cursor-'.length));
    if (respond(request, response, start)) return;
    const send = (status: number, body: Json) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.headers['bt-api-key'] !== apiKey) return void send(401, { title: 'Unauthorized', status: 401 });
    const size = Number(url.searchParams.get('size') ?? 20);
    const next = start + size < tokens.length ? { next: `cursor-${start + size}` } : {};
    send(200, { pagination: { page_size: size, ...next }, data: tokens.slice(start, start + size) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Moved = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs a command line exactly as the how-to page shows it. */
function shell(line: string): Promise<Moved> {
  return new Promise((resolve) => {
    execFile('bash', ['-c', `set -o pipefail; ${line}`], { cwd: root, maxBuffer: 2 ** 28 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

async function vaultAndKey() {
  const { args, flags, dir, keyFile } = await vaultWithKeyFile();
  const btKey = join(dir, 'bt.key');
  writeFileSync(btKey, `${apiKey}\n`, { mode: 0o600 });
  const script = (address: string) =>
    `node scripts/move-from-basis-theory.mjs --api-key-file ${btKey} --address ${address}`;
  const importer = `node dist/bin/strongroom.js tokens import - ${flags.join(' ')} --api-key-file ${keyFile} --json`;
  return { args, script, move: (address: string) => shell(`${script(address)} | ${importer}`) };
}

function summaryOf({ stdout }: Moved): JsonObject {
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as JsonObject;
}

test('tokens of every type arrive with their ids, even if the API was busy, failed and rejected a request in between', async () => {
  const tokens = Array.from({ length: 240 }, (_, n) => tokenOf(n));
  let requests = 0;
  let isBroken = true;
  const address = await standIn(tokens, (request, response, start) => {
    requests += 1;
    expect(request.headers['bt-api-key']).toBe(apiKey);
    if (requests === 1) response.writeHead(429, { 'retry-after': '1' }).end('{"title":"Too Many Requests"}');
    else if (requests === 2) response.writeHead(500).end('{}');
    else if (start === 200 && isBroken) response.writeHead(403).end('{}');
    else return false;
    return true;
  });
  const { args, move, script } = await vaultAndKey();

  const broken = await move(address);
  expect(broken.code).toBe(1);
  expect(broken.stderr).toContain('The API returned 403.');
  expect(summaryOf(broken)).toMatchObject({ created: 200, failed: 0 });
  isBroken = false;
  const moved = await move(address);
  expect(moved.code).toBe(0);
  expect(summaryOf(moved)).toMatchObject({ created: 40, skipped: 200, failed: 0 });
  expect(moved.stderr).toContain('240 tokens written, 0 skipped');
  for (const output of [broken, moved]) {
    for (const secret of [marker, '4242424242424242', '123-45-6789', apiKey]) {
      expect(output.stdout + output.stderr).not.toContain(secret);
    }
  }

  for (const n of [0, 1, 2, 3, 4, 5, 6, 7, 120, 239]) {
    const theirs = tokenOf(n);
    const ours = await runJson(['tokens', 'get', String(theirs['id']), ...args]);
    expect(ours).toMatchObject({
      id: theirs['id'],
      type: theirs['type'],
      data: theirs['data'],
      containers: theirs['containers'],
      metadata: theirs['metadata'],
    });
    for (const field of ['mask', 'search_indexes', 'fingerprint_expression']) {
      if (theirs[field] !== undefined) expect(ours[field], field).toEqual(theirs[field]);
    }
    expect(ours['expires_at']).toBe(theirs['expires_at'] === undefined ? undefined : '2090-08-27T02:23:57.000+00:00');
  }
  const counted = await shell(`${script(address)} --dry-run`);
  expect(counted).toMatchObject({ code: 0, stdout: '' });
  expect(counted.stderr).toMatch(/card: 30\n[\s\S]*240 tokens can be moved, 0 skipped/);
});

test('tokens that cannot be moved are named with the reason, and the others are moved', async () => {
  const { data: _hidden, ...hidden } = tokenOf(1);
  const tokens = [
    { ...tokenOf(0), id: 'network-1', type: 'network_token' },
    { ...hidden, id: 'hidden-1' },
    { ...tokenOf(2), id: 'ended-1', expires_at: '2021-01-01T00:00:00Z' },
    tokenOf(3),
  ];
  const { move } = await vaultAndKey();
  const moved = await move(await standIn(tokens));
  expect(moved.code).toBe(1);
  expect(moved.stderr).toContain('skipped network-1: its type is network_token, which Strongroom does not have');
  expect(moved.stderr).toContain('skipped hidden-1: the application may not see its data');
  expect(moved.stderr).toContain('skipped ended-1: it has expired');
  expect(summaryOf(moved)).toMatchObject({ created: 1, failed: 0 });
});

test('a token with a number that would lose digits is skipped and named, and every other number keeps its digits', async () => {
  const lossy = ['0.12345678901234567891', '1234567890123456789012', '1e400', '9007199254740993', '1e16', '1e-400'];
  const exact = ['8.50', '-0.1', '1e21', '9007199254740991', '"1234567890123456789012 \\" 1e400"'];
  const written = [...lossy, ...exact].map((data, n) => `{"id":"n-${n}","type":"token","data":{"a":[${data}]}}`);
  const address = await standIn([], (_request, response) => {
    response.end(`{"pagination":{},"data":[${written.join(',')}]}`);
    return true;
  });
  const { args, move } = await vaultAndKey();
  const moved = await move(address);
  expect(moved.code).toBe(1);
  for (const [n] of lossy.entries()) {
    expect(moved.stderr).toContain(`skipped n-${n}: it contains a number that would lose digits`);
  }
  expect(summaryOf(moved)).toMatchObject({ created: exact.length, failed: 0 });
  for (const [n, data] of exact.entries()) {
    const ours = await runJson(['tokens', 'get', `n-${lossy.length + n}`, ...args]);
    expect(ours['data']).toEqual({ a: [JSON.parse(data)] });
  }
});

test('if the server is not the API, or an option is wrong, the script exits with an explanation', async () => {
  const { script } = await vaultAndKey();
  const endless = await standIn([], (_request, response) => {
    response.end(JSON.stringify({ pagination: { next: 'cursor-1' }, data: [] }));
    return true;
  });
  let redirected = 0;
  const elsewhere = await standIn([], () => {
    redirected += 1;
    return false;
  });
  const redirect = await standIn([], (_request, response) => {
    response.writeHead(302, { location: `${elsewhere}/v2/tokens` }).end();
    return true;
  });
  const otherJson = await standIn([], (_request, response) => {
    response.end('{"hello":"world"}');
    return true;
  });
  const cases: readonly [line: string, code: number, says: RegExp][] = [
    [`${script(endless)} | cat`, 1, /same cursor twice/],
    [`${script(redirect)} | cat`, 1, /returned 302/],
    [`${script(otherJson)} | cat`, 1, /not a page of tokens/],
    [`${script('http://api.example.com')} | cat`, 2, /--address must use https/],
    ['node scripts/move-from-basis-theory.mjs | cat', 2, /--api-key-file is required/],
    [
      'node scripts/move-from-basis-theory.mjs --api-key-file /nowhere/key | cat',
      2,
      /^\/nowhere\/key cannot be read: ENOENT/,
    ],
  ];
  for (const [line, code, says] of cases) {
    const ended = await shell(line);
    expect(ended.stderr).toMatch(says);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).not.toContain(apiKey);
  }
  expect(redirected).toBe(0);
  const help = await shell('node scripts/move-from-basis-theory.mjs --help');
  expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('--dry-run') });
});
