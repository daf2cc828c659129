import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hashesOf, http, makeVault, run, startService } from '../support/process.js';

/**
 * Listens on the path of the service's control socket. Sends `answer` to every connection. If `answer` is null, closes
 * the connection instead.
 */
async function listenAt(path: string, answer: string | null): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => (answer === null ? socket.destroy() : socket.end(answer)));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
}

test.each([
  ['hangs up', null],
  ['sends half a response', 'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"ok":true,"value":"marker-5'],
  ['sends something else', 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nmarker-5'],
])(
  'if a service %s during a command, the command says that the outcome is unknown, and does nothing itself',
  async (_what, answer) => {
    const { dir, dataDir, flags } = await makeVault();
    const before = hashesOf(dir);
    await listenAt(join(dataDir, 'control.sock'), answer);
    const ended = await run(['tenants', 'create', '--name', 'x', ...flags]);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toBe(
      'the service stopped before it responded. Check whether the command took effect, then try again.\n',
    );
    expect(hashesOf(dir)).toEqual(before);
  },
);

test('the socket rejects unknown requests, and the service keeps running', async () => {
  const { dataDir, flags, key } = await makeVault();
  const service = await startService(flags);
  const send = (head: string, body: string) =>
    new Promise<string>((resolve, reject) => {
      const wire = connect(join(dataDir, 'control.sock'));
      let text = '';
      wire.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      wire.on('error', reject).on('close', () => resolve(text));
      wire.write(
        `${head}\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
  expect(await send('POST /operations/constructor HTTP/1.1', '{}')).toContain('"ok":false');
  expect(await send('POST /operations/tenants-create HTTP/1.1', '{"name":5}')).toContain('"ok":false');
  const malformed = await send('POST /operations/tenants-create HTTP/1.1', 'marker-6');
  expect(malformed).toMatch(/^HTTP\/1\.1 400 .*"ok":false/s);
  expect(await send('GET /operations/tenants-list HTTP/1.1', '')).toContain('404');
  const body = { type: 'token', data: 1 };
  expect(await http('POST', `${service.address}/tokens`, { key, body })).toMatchObject({ status: 201 });
  const { code, stdout, stderr } = await service.stop();
  expect(code).toBe(0);
  expect(stdout + stderr).not.toContain('marker-6');
  expect(stdout + stderr).not.toContain('a command failed');
});
