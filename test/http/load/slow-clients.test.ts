import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { makeCertificate } from '../../support/certificate.js';
import { http, loggedAddress, makeVault, startService, type TestVault, until } from '../../support/process.js';
import { startTestService } from '../../support/test-service.js';

/** The documented 30 seconds, and some time for a busy machine. */
const limitMs = 35_000;

/** Opens a connection that stays open until the service closes it. If it is half open, it ignores that the service ended. */
function open(address: string, allowHalfOpen = false): { readonly socket: Socket; readonly closed: Promise<string> } {
  const socket = connect({ port: Number(new URL(address).port), host: '127.0.0.1', allowHalfOpen });
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('error', () => undefined).setEncoding('utf8');
  socket.on('data', (part: string) => {
    text += part;
  });
  return { socket, closed: new Promise((resolve) => socket.once('close', () => resolve(text))) };
}

/** Sends a request whose body arrives byte by byte. Returns the response and how long the connection stayed open. */
async function trickle(address: string, path: string, headers: readonly string[]): Promise<[string, number]> {
  const { socket, closed } = open(address, true);
  const beganAt = performance.now();
  socket.write([`POST ${path} HTTP/1.1`, 'Host: localhost', ...headers, 'Content-Length: 400', '', ''].join('\r\n'));
  const timer = setInterval(() => socket.write(' '), 200);
  const text = await closed;
  clearInterval(timer);
  return [text, performance.now() - beganAt];
}

test('slow bodies delay the requests of their tenant for at most 30 seconds, and every listener then closes them', async () => {
  // This blocks the thread. During the first part, a second could then pass without a request of the other tenant.
  const vault = await makeVault();
  // Each part waits for 30 seconds.
  await Promise.all([slowBodiesOfTenant(), slowBodiesElsewhere(vault)]);
});

/** Four slow bodies occupy the share of their tenant. The tenant's other requests then still get responses. */
async function slowBodiesOfTenant(): Promise<void> {
  const service = await startTestService();
  onTestFinished(() => service.close());
  await service.app.listen({ port: 0, host: '127.0.0.1' });
  const address = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`;
  const other = await service.otherTenant();
  const statuses: number[] = [];
  const timer = setInterval(
    async () => statuses.push((await http('GET', `${address}/tokens`, { key: other })).status),
    150,
  );
  onTestFinished(() => clearInterval(timer));
  await until('a request of the other tenant', 30_000, () => (statuses.length > 0 ? true : undefined));

  const headers = [`SERVICE-API-KEY: ${service.key}`, 'Content-Type: application/json'];
  const begun: number[] = [];
  service.app.server.on('request', ({ method }) => {
    if (method === 'POST') begun.push(performance.now());
  });
  const slow = Array.from({ length: 4 }, () => trickle(address, '/tokens', headers));
  await until('the slow requests', 30_000, () => (begun.length === 4 ? true : undefined));
  // By now, the slow requests have entered, because each later request goes through the same steps. The other tenant
  // has just sent a request, so the shares of the tenants are limited.
  const later = statuses.length + 5;
  await until('five requests of the other tenant', 30_000, () => (statuses.length >= later ? true : undefined));
  const beganAt = performance.now();
  const waiting = await http('GET', `${address}/tokens/unknown`, { key: service.key });
  const endedAt = performance.now();
  // The slow bodies did occupy the tenant's share.
  expect(endedAt - Number(begun[0])).toBeGreaterThan(20_000);
  expect(endedAt - beganAt).toBeLessThan(limitMs);
  expect(waiting.status).toBe(404);
  for (const [text, openMs] of await Promise.all(slow)) {
    expect(text).toMatch(/^HTTP\/1\.1 400 .*"code":"malformed_request"/s);
    expect(openMs).toBeLessThan(limitMs);
  }
  expect(new Set(statuses)).toEqual(new Set([200]));
}

/** The console and the admin listener also close connections whose bodies are slow. */
async function slowBodiesElsewhere({ flags }: TestVault): Promise<void> {
  const service = await startService([...flags, '--admin-port', '0', '--console-enabled', '--console-port', '0']);
  const form = ['Content-Type: application/x-www-form-urlencoded'];
  const ends = await Promise.all([
    trickle(await loggedAddress(service, 'console_address'), '/sign-in', form),
    trickle(await loggedAddress(service, 'admin_address'), '/metrics', []),
  ]);
  for (const [, openMs] of ends) expect(openMs).toBeLessThan(limitMs);
}

test('connections without a TLS handshake are closed after ten seconds, and the service stops cleanly', async () => {
  const { dir, flags } = await makeVault();
  const { cert, key } = makeCertificate(dir, 'vault');
  const service = await startService([...flags, '--tls-cert', cert, '--tls-key', key]);
  const silent = Array.from({ length: 20 }, () => open(service.address));
  const beganAt = performance.now();
  await Promise.all(silent.map(({ closed }) => closed));
  expect(performance.now() - beganAt).toBeLessThan(15_000);
  const ready = await http('GET', `${service.address}/health/ready`, { ca: readFileSync(cert) });
  expect(ready.status).toBe(200);
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' });
});

test.each(['http', 'https'] as const)('silent connections over %s do not delay a stop', async (scheme) => {
  const { dir, flags } = await makeVault();
  const { cert, key } = makeCertificate(dir, 'vault');
  const tls = scheme === 'http' ? [] : ['--tls-cert', cert, '--tls-key', key];
  const service = await startService([...flags, ...tls, '--console-enabled', '--console-port', '0']);
  const addresses = [service.address, await loggedAddress(service, 'console_address')];
  await Promise.all(addresses.map((address) => new Promise((done) => open(address).socket.once('connect', done))));
  const begun = connect({ port: Number(new URL(service.address).port), host: '127.0.0.1' });
  begun.on('error', () => undefined);
  onTestFinished(() => void begun.destroy());
  if (scheme === 'http') begun.write('GET /tok');
  if (scheme === 'https') {
    // The first bytes of a TLS handshake.
    begun.write(Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]));
    const port = Number(new URL(service.address).port);
    const silent = connectTls({ port, host: '127.0.0.1', ca: readFileSync(cert) }).on('error', () => undefined);
    onTestFinished(() => void silent.destroy());
    await new Promise((done) => silent.once('secureConnect', done));
  }
  const beganAt = performance.now();
  const { code, stdout, stderr } = await service.stop();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(performance.now() - beganAt).toBeLessThan(5_000);
  expect(stdout).not.toContain('grace period');
});
