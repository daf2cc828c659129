import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { OperationName } from '#src/cli/operations.js';
import { reconcileKeys } from '#src/commands/recovery/reconcile-keys.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { joinChunks } from '#src/http/body/json-body.js';
import type { EventLog } from '#src/ports/event-log.js';
import { noLimits } from '#src/vault/limit-settings.js';
import { operate } from '../../audit/operate.js';
import { http } from '../../support/process.js';
import { rule, startTestService, type TestService } from '../../support/test-service.js';

const halfMib = 500_000;

async function listening(): Promise<{ readonly service: TestService; readonly origin: string }> {
  const service = await startTestService();
  onTestFinished(() => service.close());
  await service.app.listen({ port: 0, host: '127.0.0.1' });
  return { service, origin: `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}` };
}

/**
 * While a request or another computation runs, sends GET requests as a second tenant, one at a time. Returns the number
 * of GET requests, and the result of the request. After 200 GET requests, sends one every 3 s: while a second tenant
 * sends requests, the request gets at most a quarter of the thread's time, and the tests would take several times as
 * long.
 */
async function getsDuring<T>(service: TestService, origin: string, request: () => Promise<T>) {
  const other = await service.otherTenant();
  const created = await http('POST', `${origin}/tokens`, { key: other, body: { type: 'token', data: 'x' } });
  const url = `${origin}/tokens/${String(created.body['id'])}`;
  let isRunning = true;
  let gets = 0;
  const answer = request().finally(() => {
    isRunning = false;
  });
  while (isRunning) {
    const { status } = await http('GET', url, { key: other });
    expect(status).toBe(200);
    if (isRunning) gets += 1;
    if (gets >= 200) await Promise.race([answer, wait(3_000)]);
  }
  return { gets, answer: await answer };
}

/** One evaluation of this mask uses up the whole budget for one token. */
const hostileMask = Array.from({ length: 8 }, () => `{{ data | card_mask: 'true','true','#','-' | size }}`);

async function createHostile({ call }: TestService, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const body = { type: 'token', data: '1-'.repeat(halfMib / 2), mask: hostileMask };
    const { status, body: token } = await call('POST', '/tokens', body);
    expect(status).toBe(201);
    ids.push(String(token['id']));
  }
  return ids;
}

test('while a page of hostile masks is evaluated, another tenant can read', async () => {
  const { service, origin } = await listening();
  await createHostile(service, 40);
  const key = await service.application([rule('/', 'mask', tokenPermissions)]);
  const { gets, answer } = await getsDuring(service, origin, () => http('GET', `${origin}/tokens?size=40`, { key }));
  expect(answer.status).toBe(200);
  expect(gets).toBeGreaterThan(4);
});

test('while large tokens are read on many connections, another tenant can read', async () => {
  const { service, origin } = await listening();
  const ids = await createHostile(service, 8);
  const urls = Array.from({ length: 96 }, (_, i) => `${origin}/tokens/${ids[i % ids.length]}?n=${i}`);
  const { gets, answer } = await getsDuring(service, origin, async () => {
    const all = await Promise.all(urls.map((url) => http('GET', url, { key: service.key })));
    return all.reduce((first, answer) => (first.status === 200 ? answer : first));
  });
  expect(answer.status).toBe(200);
  expect(gets).toBeGreaterThan(24);
});

test('during a detokenize of 100 large tokens, another tenant can read', async () => {
  const { service, origin } = await listening();
  const ids: string[] = [];
  for (let i = 0; i < 100; i += 1) {
    const body = { type: 'token', data: { a: 'x'.repeat(20_000), b: Array.from({ length: 20_000 }, () => []) } };
    ids.push(String((await service.call('POST', '/tokens', body)).body['id']));
  }
  const body = ids.map((id) => `{{ ${id} | stringify | size }}`);
  const { gets, answer } = await getsDuring(service, origin, () =>
    http('POST', `${origin}/detokenize`, { key: service.key, body }),
  );
  expect(answer.status).toBe(200);
  expect(gets).toBeGreaterThan(4);
}, 180_000);

test.each([
  ['arrays', '/detokenize', Array.from({ length: 1_300_000 }, () => [])],
  ['keys', '/detokenize', Array.from({ length: 17 }, () => many((i) => `k${i.toString(36)}`, 20_000))],
  ['nulls to tokenize', '/tokenize', Array.from({ length: 800_000 }, () => null)],
])('while a 4 MiB body of %s is handled, another tenant can read', async (_, path, body) => {
  const { service, origin } = await listening();
  const { gets, answer } = await getsDuring(service, origin, () =>
    http('POST', `${origin}${path}`, { key: service.key, body }),
  );
  expect(answer.status).toBe(200);
  expect(gets).toBeGreaterThan(4);
});

test('once hostile masks have used up the budget of a page, further ones are left out with a note, and other tokens are shown', async () => {
  const { service, origin } = await listening();
  const { body: small } = await service.call('POST', '/tokens', { type: 'card_number', data: '4242424242424242' });
  const ids = await createHostile(service, 6);
  const key = await service.application([rule('/', 'mask', tokenPermissions)]);
  const { body: page } = await http('GET', `${origin}/tokens`, { key });
  const tokens = page['data'] as readonly Record<string, unknown>[];
  expect(tokens.map(({ id }) => id)).toEqual([...ids].reverse().concat(String(small['id'])));
  expect(tokens.at(-1)).toMatchObject({ data: 'XXXXXXXXXXXX4242' });
  const skipped = tokens.filter(({ _extras }) => _extras !== undefined);
  expect(skipped.length).toBeGreaterThan(1);
  for (const token of skipped) {
    expect(token['_extras']).toEqual({ mask_skipped: true });
    expect(token).not.toHaveProperty('data');
  }
  expect(tokens[0]).not.toHaveProperty('_extras');
  // If the same token is requested alone, it has the whole budget for one token, so its mask is evaluated.
  const alone = await service.call('GET', `/tokens/${String(skipped[0]?.['id'])}`, undefined, { key });
  expect(alone.body).not.toHaveProperty('_extras');
});

test('a detokenize rejects tokens if the masks of other tokens have used up the budget', async () => {
  const { service } = await listening();
  const ids = await createHostile(service, 6);
  const key = await service.application([rule('/', 'mask', tokenPermissions)]);
  const one = await service.call('POST', '/detokenize', { a: `{{ ${ids[0]} }}` }, { key });
  expect(one.status).toBe(200);
  const all = await service.call(
    'POST',
    '/detokenize',
    ids.map((id) => `{{ ${id} }}`),
    { key },
  );
  expect(all.status).toBe(400);
  expect(JSON.stringify(all.body['errors'])).toContain('detokenize fewer tokens');
});

test('pipelined requests on one connection run one after another', async () => {
  const { service, origin } = await listening();
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const head = `GET /tokens HTTP/1.1\r\nHost: vault\r\nSERVICE-API-KEY: ${service.key}\r\n\r\n`;
  socket.write(head.repeat(20));
  let text = '';
  for await (const bytes of socket) {
    text += String(bytes);
    if (text.split('HTTP/1.1 200').length === 21) break;
  }
  expect(text.split('HTTP/1.1 200')).toHaveLength(21);
});

test('a connection with more than 64 unanswered requests is closed', async () => {
  const { service, origin } = await listening();
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  const head = `GET /tokens HTTP/1.1\r\nHost: vault\r\nSERVICE-API-KEY: ${service.key}\r\n\r\n`;
  socket.write(head.repeat(200));
  socket.resume();
  await new Promise((resolve) => socket.once('close', resolve));
  expect((await http('GET', `${origin}/health/live`)).status).toBe(200);
});

async function createLarge({ call }: TestService, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const { body } = await call('POST', '/tokens', { type: 'token', data: `${i}-`.padEnd(halfMib, 'x') });
    ids.push(String(body['id']));
  }
  return ids;
}

test('while a page of the access log about 100 large tokens is read, another tenant can read', async () => {
  const { service, origin } = await listening();
  await createLarge(service, 100);
  const key = service.managementKey;
  const url = `${origin}/logs?entity_type=token&size=100&start_date=2000-01-01`;
  const { gets, answer } = await getsDuring(service, origin, () => http('GET', url, { key }));
  expect(answer.body).toMatchObject({ pagination: { total_items: 100 } });
  expect(gets).toBeGreaterThan(4);
}, 180_000);

test.each<[string, (ids: readonly string[]) => object]>([
  ['by their ids', (ids) => ({ ids })],
  ['by a query', () => ({ query: 'type:token' })],
])(
  'while 60 large tokens are deleted %s, another tenant can read',
  async (_, bodyOf) => {
    const { service, origin } = await listening();
    const ids = await createLarge(service, 60);
    const { gets, answer } = await getsDuring(service, origin, () =>
      http('POST', `${origin}/tokens/delete`, { key: service.key, body: bodyOf(ids) }),
    );
    expect(answer.body).toEqual({ deleted: 60, refused: 0, remaining: 0 });
    expect(gets).toBeGreaterThan(8);
  },
  180_000,
);

test('while the history of a token with many large updates is read, another tenant can read', async () => {
  const { service, origin } = await listening();
  const id = await createLongHistory(service, 80);
  const url = `${origin}/tokens/${id}/history?size=100`;
  const { gets, answer } = await getsDuring(service, origin, () => http('GET', url, { key: service.key }));
  expect(answer.body).toMatchObject({ pagination: { total_items: 81 } });
  expect(gets).toBeGreaterThan(4);
}, 180_000);

test('a change to a token with many large updates reads only the current ciphertexts', async () => {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const updates = 40;
  const id = await createLongHistory(service, updates);
  const read = sealedBytesRead(service);
  const { status } = await service.call('PATCH', `/tokens/${id}`, { metadata: { a: 'b' } });
  expect(status).toBe(200);
  expect(read()).toBeLessThan((updates * halfMib) / 2);
  const { body } = await service.call('GET', `/tokens/${id}`);
  expect(body).toMatchObject({ data: `${updates - 1}-`.padEnd(halfMib, 'x'), metadata: { a: 'b' } });
});

test('replays, the history and a statement of erasure do not read the ciphertexts of all updates of a token', async () => {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const updates = 60;
  const id = await createLongHistory(service, updates);
  const { key, vault } = service;
  const asOf = String(await vault.log.head());
  const bytesRead = sealedBytesRead(service);
  let before = 0;
  const run = async (name: OperationName, input: object) => {
    const answer = await operate(service.service, name, { key, ...input });
    const all = bytesRead();
    expect(all - before, name).toBeLessThan((updates * halfMib) / 2);
    before = all;
    return answer;
  };
  expect(await run('audit-replay', { id, asOf, reveal: false })).toMatchObject({ id });
  const query = { query: '', asOf, reveal: false, after: 0 };
  expect(await run('audit-replay-query', query)).toMatchObject({ tokens: [{ id }] });
  expect(await run('audit-history', { id, size: 1 })).toMatchObject({ data: [{ revision: updates, values: 'kept' }] });
  expect((await service.call('DELETE', `/tokens/${id}`)).status).toBe(204);
  before = bytesRead();
  expect(await run('audit-erasure', { id })).toMatchObject({ statement: { token_id: id }, problem: null });
}, 180_000);

async function createLongHistory({ call }: TestService, updates: number): Promise<string> {
  const { body } = await call('POST', '/tokens', { type: 'token', data: 'first' });
  const id = String(body['id']);
  for (let i = 0; i < updates; i += 1) {
    const { status } = await call('PATCH', `/tokens/${id}`, { data: `${i}-`.padEnd(halfMib, 'x') });
    expect(status).toBe(200);
  }
  return id;
}

test('while the keys are compared with the log, another tenant can read', async () => {
  const { service, origin } = await listening();
  const tokens = Array.from({ length: 100 }, () => ({ type: 'token', data: 'x' }));
  for (let count = 0; count < 4_000; count += tokens.length) {
    expect((await service.call('POST', '/tokenize', tokens)).status).toBe(200);
  }
  const { gets, answer } = await getsDuring(service, origin, () => reconcileKeys(service.vault));
  expect(answer).toEqual({ lost: [], unnamed: [], orphans: 0, newer: null });
  expect(gets).toBeGreaterThan(2);
}, 180_000);

/** Counts the bytes of all ciphertexts that the vault reads from its log after this call. */
function sealedBytesRead({ vault: { log } }: TestService): () => number {
  const { readStream, readFrom } = log;
  let bytes = 0;
  const counted = async (read: ReturnType<EventLog['readStream']>) => {
    const events = await read;
    for (const { sealed } of events) bytes += sealed.content?.length ?? 0;
    return events;
  };
  vi.spyOn(log, 'readStream').mockImplementation((stream) => counted(readStream(stream)));
  vi.spyOn(log, 'readFrom').mockImplementation((...place) => counted(readFrom(...place)));
  return () => bytes;
}

test('4 MiB of expressions are rejected before they are compiled', async () => {
  const { service, origin } = await listening();
  const body = ['{{ abcd | upcase }}'.repeat(200_000)];
  const compile = vi.spyOn(service.vault.expressions, 'parseFilters');
  const answer = await http('POST', `${origin}/detokenize`, { key: service.key, body });
  expect(answer.body['errors']).toEqual({ body: ['must have at most 1000 expressions'] });
  expect(compile).not.toHaveBeenCalled();
});

test('requests without a key are limited even if their URL cannot be decoded', async () => {
  const { origin } = await listening();
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  socket.write('GET /%zz HTTP/1.1\r\nHost: vault\r\n\r\n'.repeat(1_000));
  let text = '';
  socket.on('data', (bytes) => {
    text += String(bytes);
  });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve));
  expect(text.split('HTTP/1.1 400').length - 1).toBeLessThanOrEqual(65);
  const limited = await startTestService({ limits: { ...noLimits, keylessRequests: 100, windowMs: 10_000 } });
  onTestFinished(() => limited.close());
  const statuses = new Set<number>();
  for (let i = 0; i < 200; i += 1) statuses.add((await limited.app.inject({ method: 'GET', url: '/%zz' })).statusCode);
  expect(statuses).toEqual(new Set([400, 429]));
});

test('a body that arrives in chunks of one byte is read in blocks', async () => {
  const { service, origin } = await listening();
  const value = 'ä'.repeat(100_000);
  const bytes = Buffer.from(JSON.stringify([value]));
  const chunks = Readable.from(
    (function* () {
      for (const byte of bytes) yield Buffer.of(byte);
    })(),
  );
  const blocks: Buffer[] = [];
  for await (const block of joinChunks(chunks)) blocks.push(block);
  expect(Buffer.concat(blocks).equals(bytes)).toBe(true);
  expect(blocks).toHaveLength(Math.ceil(bytes.length / 65_536));

  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const key = `SERVICE-API-KEY: ${service.key}\r\nContent-Type: application/json`;
  socket.write(
    `POST /detokenize HTTP/1.1\r\nHost: vault\r\nConnection: close\r\n${key}\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  socket.write(
    Buffer.concat([...bytes].flatMap((byte) => [Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')])),
  );
  socket.write('0\r\n\r\n');
  const answer: Buffer[] = [];
  for await (const part of socket) answer.push(part);
  const [head = '', ...body] = Buffer.concat(answer).toString().split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 200/);
  expect(body.join('')).toContain(value);
});

test.each([
  ['settings', 'PUT', '/tenants/self', { name: 'x', settings: many((i) => `k${i}`, 20_000) }, 'settings'],
  [
    'metadata keys',
    'POST',
    '/tokens',
    { type: 'token', data: 1, metadata: many((i) => `${1_000_000 + i}`, 20_000) },
    'metadata',
  ],
] as const)(
  'if a body contains many %s that fail in the same way, the error is named once',
  async (_, method, path, body, field) => {
    const service = await startTestService();
    onTestFinished(() => service.close());
    const key = path === '/tokens' ? service.key : service.managementKey;
    const answer = await service.call(method, path, body, { key });
    expect(answer.status).toBe(400);
    expect(answer.text.length).toBeLessThan(2_000);
    expect(Object.keys(answer.body['errors'] as object).every((at) => at.startsWith(field))).toBe(true);
  },
);

function many(nameOf: (i: number) => string, count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [nameOf(i), 1]));
}
