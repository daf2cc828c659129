import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createClient, type Strongroom, StrongroomError } from '../../../clients/typescript/src/client.js';
import { type HostileServer, startHostileServer } from '../hostile-server.js';

const apiKey = `sr_private_${'k'.repeat(49)}`;
let server: HostileServer;
const waits: number[] = [];

beforeAll(async () => {
  server = await startHostileServer();
});
afterEach(() => void vi.restoreAllMocks());
afterAll(() => server.close());

/**
 * Creates a client that requests this behavior from the server. The client does not wait before a retry. Instead, it
 * records how long it would have waited. Its time limit begins when a request has arrived. Otherwise, a short limit
 * could end before that on a busy machine.
 */
function clientOf(behavior: string, timeoutMs = 5_000): Strongroom {
  waits.length = 0;
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const limit = new AbortController();
    void server.arrival().then(() => setTimeout(() => limit.abort(), ms).unref());
    return limit.signal;
  });
  const wait = async (delayMs: number) => void waits.push(delayMs);
  const options = { timeoutMs, wait, responseBytesMax: 4 * 1024 * 1024 };
  return createClient({ ...options, address: `${server.address}/${behavior}/`, apiKey });
}

async function failureOf(call: Promise<unknown>): Promise<StrongroomError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StrongroomError)) throw new Error(`no StrongroomError: ${inspect(error)}`);
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(apiKey);
  return error;
}

const get = (vault: Strongroom) => vault.getToken({ path: { id: 't1' } });
const create = (vault: Strongroom) => vault.createToken({ body: { type: 'token', data: 1 } });
const remove = (vault: Strongroom) => vault.deleteToken({ path: { id: 't1' } });

describe('against a hostile server', () => {
  test.each([
    ['silent', 'timeout'],
    ['drip', 'timeout'],
    ['redirect', 'unexpected_response'],
    ['megabytes', 'unexpected_response'],
    ['compressed', 'unexpected_response'],
    ['page', 'unexpected_response'],
    ['stranger', 'unexpected_response'],
    ['garbage', 'unexpected_response'],
    ['broken', 'connection_failed'],
  ])('if a server is %s, the client fails with %s and does not retry a delete', async (behavior, code) => {
    const timeoutMs = code === 'timeout' ? 300 : undefined;
    const error = await failureOf(remove(clientOf(behavior, timeoutMs)));
    expect(error.code).toBe(code);
    expect(server.requests(behavior)).toHaveLength(1);
  });

  test.each(['silent', 'broken'])('if a server is %s, a get and a create are tried three times', async (behavior) => {
    await failureOf(get(clientOf(behavior, 200)));
    expect(server.requests(behavior)).toHaveLength(3);
    await failureOf(create(clientOf(behavior, 200)));
    const keys = server.requests(behavior).map(({ idempotencyKey }) => idempotencyKey);
    expect(keys).toHaveLength(3);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(keys).size).toBe(1);
  });

  test('an operation that issues an API key is sent once, because the response to a retry has no key', async () => {
    const body = { name: 'shop', type: 'private' } as const;
    for (const behavior of ['silent', 'broken', 'busy']) {
      await failureOf(clientOf(behavior, 200).createApplication({ body }));
      await failureOf(clientOf(behavior, 200).issueKey({ path: { id: 'a1' } }));
      expect(server.requests(behavior)).toHaveLength(2);
    }
  });

  test('a token that has not changed is reported as not_modified', async () => {
    const call = clientOf('unchanged').getToken({ path: { id: 't1' }, header: { 'If-None-Match': '"1"' } });
    expect(await failureOf(call)).toMatchObject({ code: 'not_modified', status: 304, traceId: 'trace-1' });
    expect(server.requests('unchanged')).toHaveLength(1);
  });

  test('a null header is not sent, so that "null" is not the idempotency key of two different requests', async () => {
    const header = JSON.parse('{ "SERVICE-IDEMPOTENCY-KEY": null }');
    for (let count = 0; count < 2; count += 1) {
      await failureOf(clientOf('page').createToken({ header, body: { type: 'token', data: count } }));
    }
    const keys = server.requests('page').map(({ idempotencyKey }) => idempotencyKey);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(keys).size).toBe(2);
  });

  test('a redirect is never followed, with or without a key', async () => {
    expect((await failureOf(get(clientOf('redirect')))).message).toMatch(/redirects getToken to another address/);
    expect(server.requests('thief')).toEqual([]);
  });

  test('a response that makes no sense is not quoted, because it may contain data', async () => {
    const shown = inspect(await failureOf(get(clientOf('garbage'))));
    // Removes the server's address from the text, because the port might contain these digits.
    expect(shown.replaceAll(server.address, '')).not.toContain('4242');
  });

  test('an error message that quotes the key is shown without the key', async () => {
    const error = await failureOf(get(clientOf('echo')));
    expect(error).toMatchObject({ code: 'malformed_body', message: 'Got sr_….' });
  });

  test('the message of an error contains the messages of its fields, and nothing else', async () => {
    const error = await failureOf(get(clientOf('invalid')));
    expect(error.message).toBe('Detail. data.number: is required. data.number: not sr_….');
    expect(error.errors).toEqual({ 'data.number': ['is required', 'not sr_…'], other: [] });
  });

  test.each(['deep', 'shapeless'])('an iteration over a response that is %s ends with an error', async (behavior) => {
    const { code } = await failureOf(clientOf(behavior).iterate('listTokensV2').next());
    expect(code).toBe('unexpected_response');
  });

  test('after a 429, the request is retried at the time in Retry-After', async () => {
    expect((await get(clientOf('limited'))).id).toBe('t1');
    expect(waits).toHaveLength(1);
    expect(waits[0]).toBeGreaterThanOrEqual(3_000);
    expect(waits[0]).toBeLessThan(3_300);
  });

  test('after a 503, the request is retried a limited number of times, with jitter', async () => {
    expect((await failureOf(get(clientOf('busy')))).code).toBe('store_unavailable');
    expect(server.requests('busy')).toHaveLength(3);
    expect(new Set(waits).size).toBe(2);
    expect((await failureOf(remove(clientOf('busy')))).status).toBe(503);
    expect(server.requests('busy')).toHaveLength(1);
  });

  test('a Retry-After above the limit is left to the caller', async () => {
    const error = await failureOf(get(clientOf('patient')));
    expect(error).toMatchObject({ code: 'guesses_exhausted', retryAfterSeconds: 86_400 });
    expect(server.requests('patient')).toHaveLength(1);
  });

  test('a repeated cursor ends the iteration with an error', async () => {
    const seen: string[] = [];
    const all = async () => {
      for await (const { id } of clientOf('loop').iterate('listTokensV2')) seen.push(id);
    };
    expect((await failureOf(all())).code).toBe('unexpected_response');
    expect(seen).toEqual(['t1', 't1']);
  });

  test('an error thrown by the caller’s onResponse is passed on, and the request is not retried', async () => {
    const onResponse = () => {
      throw new RangeError('mine');
    };
    const vault = createClient({ address: `${server.address}/busy/`, apiKey, onResponse });
    await expect(get(vault)).rejects.toThrow(RangeError);
    expect(server.requests('busy')).toHaveLength(1);
  });

  test('a caller can abort a request, even between two attempts', async () => {
    const signal = AbortSignal.abort();
    expect((await failureOf(clientOf('silent').getToken({ path: { id: 't1' }, signal }))).code).toBe('aborted');
    const controller = new AbortController();
    const vault = createClient({ address: `${server.address}/busy/`, apiKey, onResponse: () => controller.abort() });
    const call = vault.getToken({ path: { id: 't1' }, signal: controller.signal });
    expect((await failureOf(call)).code).toBe('aborted');
  });
});

describe('before the client sends anything', () => {
  test.each(['', '.', '..'])('the id "%s" is rejected, because it would lead to another path', async (id) => {
    const error = await failureOf(clientOf('stranger').deleteToken({ path: { id } }));
    expect(error.code).toBe('invalid_argument');
    expect(server.requests('stranger')).toEqual([]);
  });

  test.each(['a\ud800', undefined, null, 1])('the id %j is rejected, because it is not valid text', async (id) => {
    const error = await failureOf(clientOf('stranger').deleteToken({ path: { id: id as string } }));
    expect(error.code).toBe('invalid_argument');
    expect(server.requests('stranger')).toEqual([]);
  });

  test.each([
    { metadata_filter: { customer: 'c-17' } },
    { metadata_filter: { 'metadata.': 'c-17' } },
    { metadata_filter: { 'metadata.customer': undefined } },
    { metadata: { customer: 'c-17' } },
    { id: { 0: 't1' } },
  ])('the filter %j is rejected, because the service would list every token', async (given) => {
    const query = given as { metadata_filter: Record<string, string> };
    const vault = clientOf('stranger');
    expect((await failureOf(vault.listTokens({ query }))).code).toBe('invalid_argument');
    expect((await failureOf(vault.iterate('listTokensV2', { query }).next())).code).toBe('invalid_argument');
    expect(server.requests('stranger')).toEqual([]);
  });

  test('the error about a name in a filter shows a valid name', async () => {
    const { message } = await failureOf(clientOf('stranger').listTokens({ query: { metadata_filter: { a: 'b' } } }));
    expect(message).toMatch(/metadata_filter must be "metadata\." and a key, such as "metadata\.customer"\. Nothing/);
  });

  test('a filter by metadata is sent as a parameter with the prefix', async () => {
    await failureOf(clientOf('page').listTokens({ query: { metadata_filter: { 'metadata.a b': 'c&d' } } }));
    expect(server.requests('page').map(({ query }) => query)).toEqual(['?metadata.a+b=c%26d']);
  });

  test('a body that is not JSON and a header that is not text are rejected', async () => {
    const vault = clientOf('stranger');
    const circular: unknown[] = [];
    circular.push(circular);
    for (const body of [circular, { amount: Number.NaN }, [-Infinity]]) {
      expect((await failureOf(vault.tokenize({ body }))).code).toBe('invalid_argument');
    }
    const header = { 'If-None-Match': 'a\r\nb: c' };
    expect((await failureOf(vault.getToken({ path: { id: 't1' }, header }))).code).toBe('invalid_argument');
    expect(server.requests('stranger')).toEqual([]);
  });

  test.each([
    'http://vault.example.com',
    'http://127.0.0.1.example.com',
    'ftp://localhost',
    'https://user:word@vault.example.com',
    'https://vault.example.com?x=1',
    'vault',
  ])('the address %s is rejected', (address) => {
    expect(() => createClient({ address, apiKey })).toThrow(StrongroomError);
  });

  test.each(['http://localhost:1', 'http://127.0.0.1', 'http://[::1]:80', 'https://vault.example.com/path'])(
    'the address %s is accepted',
    (address) => {
      expect(() => createClient({ address, apiKey })).not.toThrow();
    },
  );

  test('plain HTTP to another machine requires an option', () => {
    const address = 'http://vault.example.com';
    expect(() => createClient({ address, apiKey, allowPlaintextHttp: true })).not.toThrow();
  });

  test.each(['', 'sr_private_short', `${apiKey}\r\nx: y`, 'a'.repeat(64)])('an invalid key is never sent', (wrong) => {
    let error: unknown;
    try {
      createClient({ address: server.address, apiKey: wrong });
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({ code: 'invalid_argument' });
    if (wrong !== '') expect(inspect(error)).not.toContain(wrong);
  });

  test.each([0, -1, 0.5, Number.NaN, 2 ** 31])('a time limit of %d ms is rejected', (timeoutMs) => {
    expect(() => createClient({ address: server.address, apiKey, timeoutMs })).toThrow(StrongroomError);
  });

  test('a printed client does not show the key', () => {
    const vault = clientOf('silent');
    const printed = [inspect(vault, { depth: 9, showHidden: true }), JSON.stringify(vault), String(vault)];
    expect(printed.join()).not.toContain(apiKey);
  });
});
