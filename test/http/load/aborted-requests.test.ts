import { type AddressInfo, connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { fastify } from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createAdmission } from '#src/http/load/admission.js';
import { createTurns } from '#src/vault/turns.js';
import { http, until } from '../../support/process.js';
import { startTestService } from '../../support/test-service.js';

const attempts = 200;

async function listening() {
  const service = await startTestService();
  onTestFinished(() => service.close());
  await service.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = service.app.server.address() as AddressInfo;
  return { service, port, origin: `http://127.0.0.1:${port}` };
}

/**
 * Sends bytes on a new connection. Closes the connection either once the bytes are sent or when the first byte of a
 * response arrives.
 */
function sendAndLeave(port: number, text: string, leave: 'at once' | 'at the response' | 'soon'): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.once('close', () => resolve());
    if (leave === 'at the response') socket.once('data', () => socket.resetAndDestroy());
    socket.write(text, () => {
      if (leave === 'at once') socket.resetAndDestroy();
      if (leave === 'soon') setImmediate(() => setImmediate(() => socket.resetAndDestroy()));
    });
  });
}

const list = (key: string) => `GET /tokens HTTP/1.1\r\nHost: vault\r\nSERVICE-API-KEY: ${key}\r\n\r\n`;

function upload(key: string, sent: number): string {
  const announced = 4_000_000;
  const head = ['POST /tokens HTTP/1.1', 'Host: vault', `SERVICE-API-KEY: ${key}`, 'Content-Type: application/json'];
  return `${head.join('\r\n')}\r\nContent-Length: ${announced}\r\n\r\n${'x'.repeat(sent)}`;
}

test.each([
  ['a list', list, 'at once'],
  ['a list', list, 'soon'],
  ['a list', list, 'at the response'],
  ['ten pipelined lists', (key: string) => list(key).repeat(10), 'at once'],
  ['ten pipelined lists', (key: string) => list(key).repeat(10), 'soon'],
  ['ten pipelined lists', (key: string) => list(key).repeat(10), 'at the response'],
  ['the head of an upload', (key: string) => upload(key, 0), 'at once'],
  ['the head of an upload', (key: string) => upload(key, 0), 'soon'],
  ['half of an upload', (key: string) => upload(key, 2_000_000), 'at once'],
  ['half of an upload', (key: string) => upload(key, 2_000_000), 'soon'],
  ['pipelined: a list and an upload', (key: string) => list(key) + upload(key, 1), 'at the response'],
] as const)(
  '200 callers that send %s and disconnect take no resources from their tenant (%#)',
  async (_, textOf, leave) => {
    const { service, port, origin } = await listening();
    const other = await service.otherTenant();
    for (let i = 0; i < attempts; i += 20) {
      await Promise.all(Array.from({ length: 20 }, () => sendAndLeave(port, textOf(service.key), leave)));
    }
    // While a second tenant is active, each tenant can run at most four requests at the same time. If the aborted
    // requests still counted, the requests below would have to wait.
    for (let i = 0; i < 20; i += 1) {
      expect((await http('GET', `${origin}/tokens`, { key: other })).status).toBe(200);
      const own = await Promise.race([
        http('GET', `${origin}/tokens`, { key: service.key }).then(({ status }) => status),
        wait(30_000, 'waits', { ref: false }),
      ]);
      expect(own).toBe(200);
    }
  },
);

test('a caller that disconnects while its key is checked, before its body arrives, takes no resources', async () => {
  const app = fastify();
  const admission = createAdmission(app, createTurns(), 4_000_000);
  onTestFinished(() => app.close());
  let entered = 0;
  let left = 0;
  app.addHook('onRequest', async (request, reply) => {
    if (request.headers['x-leaves'] !== undefined) {
      entered += 1;
      await new Promise((resolve) => request.raw.socket.once('close', resolve));
      left += 1;
    }
    await admission.admit(request, reply, request.headers['x-tenant'] as string);
  });
  app.post('/', async () => 'done');
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const head = 'POST / HTTP/1.1\r\nHost: vault\r\nX-Tenant: a\r\nX-Leaves: 1\r\nContent-Type: text/plain';
  for (let i = 1; i <= 20; i += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(`${head}\r\nContent-Length: 4000000\r\n\r\n`);
    await until('the request', 30_000, () => (entered === i ? true : undefined));
    socket.resetAndDestroy();
    await until('its end', 30_000, () => (left === i ? true : undefined));
  }
  const headers = { 'content-type': 'text/plain' };
  const request = (tenant: string) =>
    fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x', headers: { ...headers, 'x-tenant': tenant } });
  expect((await request('b')).status).toBe(200);
  const own = await Promise.race([request('a').then(({ status }) => status), wait(30_000, 'waits', { ref: false })]);
  expect(own).toBe(200);
});

test('a caller that disconnects while its requests run takes its share until they have ended', async () => {
  // Shares are limited for a second after a request of another tenant. On a busy machine, the test can take longer, so
  // its clock stands still.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  onTestFinished(() => clock.mockRestore());
  const app = fastify();
  const admission = createAdmission(app, createTurns(), 4_000_000);
  const running: (() => void)[] = [];
  let [asked, gone] = [0, 0];
  app.get<{ Params: { tenant: string } }>(
    '/:tenant',
    {
      onRequest: async (request, reply) => {
        asked += 1;
        await admission.admit(request, reply, request.params.tenant);
      },
    },
    async (_, reply) => {
      reply.raw.once('close', () => {
        gone += 1;
      });
      await new Promise<void>((resolve) => running.push(resolve));
      return '';
    },
  );
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  const ask = (tenant: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    socket.write(`GET /${tenant} HTTP/1.1\r\nHost: vault\r\n\r\n`);
    return socket;
  };
  const seen = (what: string, isSeen: () => boolean) =>
    vi.waitFor(() => expect(isSeen(), what).toBe(true), { timeout: 30_000 });
  ask('other');
  await seen('the request of the other tenant', () => running.length === 1);
  const first = Array.from({ length: 4 }, () => ask('own'));
  await seen('the requests of the tenant', () => running.length === 5);
  for (const socket of first) socket.resetAndDestroy();
  await seen('the disconnections', () => gone === 4);
  ask('own');
  await seen('the next request of the tenant', () => asked === 6);
  ask('other');
  await seen('the next request of the other tenant', () => asked === 7 && running.length >= 6);
  expect(running, 'the next request of the tenant waits').toHaveLength(6);
  for (const end of running.splice(1, 4)) end();
  await seen('the next request of the tenant', () => running.length === 3);
});

test('a connection that the vault has ended is closed, even if the other side keeps it open', async () => {
  const { service, port } = await listening();
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write('no request\r\n\r\n');
  socket.resume();
  await new Promise((resolve) => socket.once('end', resolve));
  const connections = () =>
    new Promise<number>((resolve) => service.app.server.getConnections((_error, count) => resolve(count)));
  expect(await connections()).toBe(1);
  await until('the end of the connection', 60_000, async () => ((await connections()) === 0 ? true : undefined));
  expect(service.errors).toEqual([]);
});
