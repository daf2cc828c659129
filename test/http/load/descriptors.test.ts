import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { http, loggedAddress, makeVault, startService, until } from '../../support/process.js';

const descriptors = 260;

/** Opens a connection, and sends a request on it. Resolves to the status of the response, or to `closed`. */
function connection(origin: string) {
  const socket: Socket = connect(Number(new URL(origin).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return {
    socket,
    /** Resolves when the service has accepted or closed the connection. */
    opened: Promise.race([new Promise<void>((resolve) => socket.once('connect', () => resolve())), closed]),
    async send(path: string, key: string, body = ''): Promise<string> {
      text = '';
      const method = body === '' ? 'GET' : 'POST';
      const head = [`${method} ${path} HTTP/1.1`, 'Host: vault', `SERVICE-API-KEY: ${key}`];
      const media = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${body.length}`];
      socket.write(`${[...head, ...media].join('\r\n')}\r\n\r\n${body}`);
      const answered = until('a response', 30_000, () => (text.includes('\r\n\r\n') ? true : undefined));
      await Promise.race([answered, closed]);
      return /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 'closed';
    },
  };
}

test('with more connections than file descriptors, the excess connections get 503 or are closed, and all others are served', async () => {
  const vault = await makeVault();
  const env = { STRONGROOM_RATE_LIMIT_REQUESTS: '0' };
  const others = ['--admin-port', '0', '--console-enabled', '--console-port', '0'];
  const service = await startService([...vault.flags, ...others], { env, descriptors });
  const { key } = vault;
  const served = connection(service.address);
  await once(served.socket, 'connect');
  expect(await served.send('/tokens', key)).toBe('200');
  // Connections to the other listeners, which need no key, do not take the descriptors of the API and the stores.
  for (const listener of ['console_address', 'admin_address'] as const) {
    const origin = await loggedAddress(service, listener);
    const silent = Array.from({ length: descriptors }, () => connection(origin));
    await Promise.all(silent.map(({ opened }) => opened));
  }
  const all = Array.from({ length: 2 * descriptors }, () => connection(service.address));
  const statuses = await Promise.all(all.map(({ send }) => send('/tokens', key)));
  expect(statuses).toContain('200');
  expect(statuses).toContain('503');
  expect(statuses.filter((status) => !['200', '503', 'closed'].includes(status))).toEqual([]);
  // Once descriptors are free again, every kind of store can be written and read.
  const token = '{"type":"token","data":"x"}';
  const searches = all.filter((_, i) => statuses[i] === '200').slice(0, 10);
  expect(new Set(await Promise.all(searches.map(({ send }) => send('/tokens', key, token))))).toEqual(new Set(['201']));
  const found = searches.map(({ send }) => send('/tokens/search', key, '{"query":"type:token"}'));
  expect(new Set(await Promise.all(found))).toEqual(new Set(['200']));
  expect(await served.send('/tokens/none', key)).toBe('404');
  for (const { socket } of all) socket.destroy();
  await until('a new connection', 30_000, async () => {
    const answer = await http('GET', `${service.address}/tokens`, { key }).catch(() => null);
    return answer?.status === 200 ? true : undefined;
  });
  expect(service.stderr()).toBe('');
  expect((await service.stop()).code).toBe(0);
});
