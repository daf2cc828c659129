import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, onTestFinished } from 'vitest';
import { startTestService, type TestService } from '../support/test-service.js';
import { createPlain, path, test } from './routes/support.js';

const token = '{"type":"token","data":1}';

/** Sends these bytes, and returns the response. The server closes the connection after the response. */
async function exchange(
  { app }: TestService,
  head: readonly string[],
  body = '',
  host = ['Host: vault'],
): Promise<string> {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (bytes) => {
    answer += bytes;
  });
  socket.write(`${[...head, ...host, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);
  await once(socket, 'close');
  return answer;
}

describe('over a real connection, the service returns', () => {
  test('400 as a problem for a request that is not HTTP', async ({ service }) => {
    const answer = await exchange(service, ['NOT HTTP']);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toMatch(/\r\nContent-Type: application\/problem\+json; charset=utf-8\r\n/);
    const [, traceId] = /\r\nservice-trace-id: (\S+)\r\n/.exec(answer) ?? [];
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({
      status: 400,
      code: 'malformed_request',
      instance: `urn:trace:${traceId}`,
    });
  });

  test('400 as a problem for a request line that is too long', async ({ service }) => {
    const answer = await exchange(service, [`GET /tokens/${'a'.repeat(20_000)} HTTP/1.1`]);
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*"code":"malformed_request"/s);
  });

  test('400 as a problem for HTTP/1.1 without a host, and serves HTTP/1.0 without one', async ({ service }) => {
    const answer = await exchange(service, ['GET /health/live HTTP/1.1'], '', []);
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*\r\nservice-trace-id: .*"code":"malformed_request"/s);
    expect(await exchange(service, ['GET /health/live HTTP/1.0'], '', [])).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('400 as a problem for several hosts, even if they are the same', async ({ service }) => {
    for (const second of ['Host: vault', 'hOST: other']) {
      const answer = await exchange(service, ['GET /health/live HTTP/1.1'], '', ['Host: vault', second]);
      expect(answer).toMatch(/^HTTP\/1\.1 400 .*"code":"malformed_request"/s);
    }
  });

  test('400 as a problem for an unknown expectation, and accepts 100-continue', async ({ service }) => {
    const head = ['GET /health/live HTTP/1.1'];
    const answer = await exchange(service, [...head, 'Expect: foo']);
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*\r\nservice-trace-id: .*"code":"malformed_request"/s);
    expect(await exchange(service, [...head, 'Expect: 100-continue'])).toMatch(/^HTTP\/1\.1 100 .*HTTP\/1\.1 200 /s);
  });

  test('400 for more headers than Node.js keeps, so none is overlooked', async ({ service }) => {
    const send = (fillers: number) => {
      const head = ['GET /tokens/unknown HTTP/1.1', `SERVICE-API-KEY: ${service.key}`];
      return exchange(service, [...head, ...Array<string>(fillers).fill('a:'), 'SERVICE-API-KEY: other']);
    };
    // The headers `SERVICE-API-KEY`, `Host` and `Connection` count too.
    expect(await send(996)).toMatch(/^HTTP\/1\.1 401 /);
    for (const fillers of [997, 998, 2_000, 3_000]) {
      expect(await send(fillers)).toMatch(/^HTTP\/1\.1 400 .*"code":"malformed_request"/s);
    }
  });

  test('404 for an id that is longer than any token’s id, and 401 without a key', async ({ service }) => {
    const line = `GET /tokens/${'a'.repeat(12_000)} HTTP/1.1`;
    const known = await exchange(service, [line, `SERVICE-API-KEY: ${service.key}`]);
    expect(known).toMatch(/^HTTP\/1\.1 404 .*"code":"token_not_found"/s);
    expect(await exchange(service, [line])).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('413 for a declared length that is too large, before the body arrives', async ({ service }) => {
    const head = ['POST /tokens HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 99999999'];
    const answer = await exchange(service, [...head, `SERVICE-API-KEY: ${service.key}`], '{');
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*"code":"body_too_large"/s);
  });

  test('413 for a body that is too large, and keeps the connection while the client sends the rest', async ({
    service,
  }) => {
    if (!service.app.server.listening) await service.app.listen({ port: 0, host: '127.0.0.1' });
    const socket = connect((service.app.server.address() as AddressInfo).port, '127.0.0.1');
    const rest = Buffer.alloc(5 * 1024 * 1024, 0x20);
    let answer = '';
    socket.on('data', (bytes) => {
      const isFirst = answer === '';
      answer += bytes;
      if (!isFirst) return;
      socket.write(rest);
      socket.write('GET /health/live HTTP/1.1\r\nHost: vault\r\nConnection: close\r\n\r\n');
    });
    // A reset connection is reported as an error before it closes.
    socket.on('error', (error) => {
      answer += String(error);
    });
    const head = ['POST /tokens HTTP/1.1', 'Host: vault', 'Content-Type: application/json'];
    const own = [`Content-Length: ${rest.length + 1}`, `SERVICE-API-KEY: ${service.key}`];
    socket.write(`${[...head, ...own].join('\r\n')}\r\n\r\n{`);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*"code":"body_too_large".*HTTP\/1\.1 200 /s);
  });

  test('401 for a declared length without a key', async ({ service }) => {
    const head = ['POST /tokens HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 99999999'];
    expect(await exchange(service, head, '{')).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('415 for a chunked body without a media type, and 400 for an empty one', async ({ service }) => {
    const head = ['POST /tokens HTTP/1.1', 'Transfer-Encoding: chunked', `SERVICE-API-KEY: ${service.key}`];
    const chunk = `${token.length.toString(16)}\r\n${token}\r\n`;
    expect(await exchange(service, head, `${chunk}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 415 /);
    expect(await exchange(service, head, '0\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 .*"body":\["must be a JSON object"\]/s);
  });

  test('401 for two different keys', async ({ service }) => {
    const head = ['GET /tokens/unknown HTTP/1.1', `SERVICE-API-KEY: ${service.key}`, 'SERVICE-API-KEY: other'];
    expect(await exchange(service, head)).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('401 for two different keys as bearer tokens, and 200 for the same key twice', async () => {
    const service = await startTestService({ acceptsBearer: true });
    onTestFinished(service.close);
    const other = await service.application(['token:read']);
    const send = (...headers: readonly string[]) => exchange(service, ['GET /tokens HTTP/1.1', ...headers]);
    const [mine, others] = [`Authorization: Bearer ${service.key}`, `Authorization: Bearer ${other}`];
    expect(await send(mine, others)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await send(others, mine)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await send(mine, mine)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await send('Authorization: Basic dXNlcjpwYXNz', mine)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('the same for several If-Match headers as for one list', async ({ service }) => {
    const { id } = await createPlain(service);
    const head = [`DELETE ${path(id)} HTTP/1.1`, `SERVICE-API-KEY: ${service.key}`];
    const tags = ['If-Match: "5"', 'If-Match: "6"'];
    expect(await exchange(service, [...head, ...tags])).toMatch(/^HTTP\/1\.1 412 /);
    expect(await exchange(service, [...head, ...tags, 'If-Match: "0"'])).toMatch(/^HTTP\/1\.1 204 /);
  });
});
