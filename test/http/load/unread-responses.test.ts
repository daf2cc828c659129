import { readdirSync, readlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { http, makeVault, startService, until } from '../../support/process.js';

const lists = 110;
const tokens = 100;

/** Requests a page of 100 tokens with 512 KB each, and never reads the response. */
async function unreadList(origin: string, key: string): Promise<void> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.pause();
  // At some point, the vault closes the connection.
  socket.on('error', () => undefined);
  const head = ['GET /tokens?size=100 HTTP/1.1', 'Host: vault', `SERVICE-API-KEY: ${key}`];
  await new Promise((resolve) => socket.write(`${head.join('\r\n')}\r\n\r\n`, resolve));
}

/** Returns how many connections a process has open. */
function connectionsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  const isSocket = (name: string): boolean => {
    try {
      return readlinkSync(join(folder, name)).startsWith('socket:');
    } catch {
      // The connection was closed after the folder was listed.
      return false;
    }
  };
  return readdirSync(folder).filter(isSocket).length;
}

test('110 unread responses with lists of 512 KB tokens do not crash a vault with a small heap', async () => {
  const vault = await makeVault();
  const env = { NODE_OPTIONS: '--max-old-space-size=256', STRONGROOM_RATE_LIMIT_REQUESTS: '0' };
  const { address: origin, pid, stop } = await startService([...vault.flags, '--admin-port', 'off'], { env });
  const { key } = vault;
  let last = '';
  for (let i = 0; i < tokens; i += 1) {
    const body = { type: 'token', data: `${i}`.padEnd(512_000, 'x') };
    const created = await http('POST', `${origin}/tokens`, { key, body });
    expect(created.status).toBe(201);
    last = String(created.body['id']);
  }
  // A connection that this test opened earlier may be closed while the lists are requested.
  const all = connectionsOf(pid) + lists - 1;
  await Promise.all(Array.from({ length: lists }, () => unreadList(origin, key)));
  await until('the connections', 30_000, () => (connectionsOf(pid) >= all ? true : undefined));
  // If a caller does not read a page that the vault has begun to send, the vault closes the connection. Requests for
  // pages that the vault has not begun to send get a 503 with `Retry-After`. While this happens, a request from the
  // same application gets either a 200 or a 503.
  await until('the end of what nobody reads', 60_000, async () => {
    const { status, headers } = await http('GET', `${origin}/tokens/${last}`, { key });
    expect([200, 503]).toContain(status);
    if (status === 503) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    return connectionsOf(pid) < all - 1 ? true : undefined;
  });
  const page = await until('a page', 60_000, async () => {
    const answer = await http('GET', `${origin}/tokens?size=100`, { key });
    return answer.status === 200 ? answer : undefined;
  });
  expect((page.body['data'] as readonly unknown[]).length).toBe(tokens);
  expect((await stop()).code).toBe(0);
});
