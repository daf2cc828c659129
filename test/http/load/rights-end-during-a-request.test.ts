import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startTestService } from '../../support/test-service.js';

/** The service authenticates a caller again if its request takes longer than 100 ms. */
const longMs = 200;

async function listening() {
  const service = await startTestService();
  onTestFinished(() => service.close());
  await service.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = service.app.server.address() as AddressInfo;
  const management = { key: service.managementKey };

  /** Creates an application that reads everything. Returns its path and its key. */
  async function application() {
    const rules = [
      {
        description: 'all',
        priority: 1,
        container: '/',
        transform: 'reveal',
        permissions: ['token:read', 'token:use'],
      },
    ];
    const body = { name: 'reader', type: 'private', rules };
    const created = await service.call('POST', '/applications', body, management);
    expect(created.status, created.text).toBe(201);
    return { path: `/applications/${created.body['id']}`, key: String(created.body['key']) };
  }

  async function revokeKeys(path: string): Promise<void> {
    const listed = await service.call('GET', `${path}/keys`, undefined, management);
    for (const { id } of JSON.parse(listed.text))
      expect((await service.call('DELETE', `${path}/keys/${id}`, undefined, management)).status).toBe(204);
  }

  /** Sends the head of a request, and returns its connection and everything that arrives until it is closed. */
  async function begin(head: readonly string[], key: string): Promise<{ socket: Socket; received: Promise<string> }> {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => undefined);
    const received = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
    const lines = [...head, 'Host: vault', 'Connection: close', `SERVICE-API-KEY: ${key}`];
    await new Promise((resolve) => socket.write(`${lines.join('\r\n')}\r\n\r\n`, resolve));
    return { socket, received };
  }
  return { service, management, application, revokeKeys, begin };
}

test.for([
  ['its key is revoked', 'revoke', /^HTTP\/1\.1 401 .*"code":"unauthenticated"/s],
  ['its application loses the permission', 'narrow', /^HTTP\/1\.1 403 .*"code":"permission_missing"/s],
  ['nothing changes', 'nothing', /^HTTP\/1\.1 200 .*the secret/s],
] as const)('a request whose body arrives after %s', async ([, what, expected]) => {
  const { service, management, application, revokeKeys, begin } = await listening();
  const { body } = await service.call('POST', '/tokens', { type: 'token', data: 'the secret' });
  const { path, key } = await application();
  const request = JSON.stringify({ data: `{{ ${body['id']} }}` });
  const head = ['POST /detokenize HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${request.length}`];
  const { socket, received } = await begin(head, key);
  await wait(longMs);
  if (what === 'revoke') await revokeKeys(path);
  if (what === 'narrow') {
    const narrower = { name: 'reader', permissions: ['token:read'] };
    expect((await service.call('PUT', path, narrower, management)).status).toBe(200);
  }
  socket.write(request);
  expect(await received).toMatch(expected);
});

test.for([
  ['stops when its key is revoked', true],
  ['is complete if nothing changes', false],
] as const)('a list that is read slowly %s', async ([, isRevoked]) => {
  const { service, application, revokeKeys, begin } = await listening();
  const ids: string[] = [];
  for (let i = 0; i < 40; i += 1) {
    const { body } = await service.call('POST', '/tokens', { type: 'token', data: `${i}`.padEnd(500_000, 'x') });
    ids.push(String(body['id']));
  }
  const { path, key } = await application();
  const { socket, received } = await begin(['GET /tokens?size=100 HTTP/1.1'], key);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  if (isRevoked) await revokeKeys(path);
  // The list ends with the oldest token.
  const changed = await service.call('PATCH', `/tokens/${ids[0]}`, { data: 'stored after the revocation' });
  expect(changed.status).toBe(200);
  socket.resume();
  const text = await received;
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect([text.includes('stored after the revocation'), text.trimEnd().endsWith('0')]).toEqual([
    !isRevoked,
    !isRevoked,
  ]);
});
