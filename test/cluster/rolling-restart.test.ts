import { Agent, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { http, startService, until } from '../support/process.js';
import { vaultOnServers } from './rebuild/support.js';

/** Much shorter than the delay of a shutdown, so that a check that is late on a busy machine is still in time. */
const checkEveryMs = 250;
const delaySeconds = 3;
const callers = 8;

/**
 * Starts a minimal load balancer. It checks `/health/ready` of every address again and again. It sends requests in
 * rotation to the addresses that returned 200 at the last check. It uses keep-alive connections, and never retries a
 * request.
 */
async function startBalancer() {
  const members = new Map<string, { ready: boolean }>();
  const agent = new Agent({ keepAlive: true });
  const timer = setInterval(() => {
    for (const [address, member] of members) {
      http('GET', `${address}/health/ready`).then(
        ({ status }) => {
          member.ready = status === 200;
        },
        () => {
          member.ready = false;
        },
      );
    }
  }, checkEveryMs);
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const ready = [...members].filter(([, member]) => member.ready).map(([address]) => address);
    turn += 1;
    const address = ready[turn % ready.length];
    if (address === undefined) {
      outgoing.writeHead(502).end('no member is ready');
      return;
    }
    const { method = 'GET', url = '/', headers } = incoming;
    const forwarded = httpRequest(new URL(url, address), { method, headers, agent }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', (error) => outgoing.writeHead(502).end(String(error)));
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    clearInterval(timer);
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (address: string) => void members.set(address, { ready: false }),
    remove: (address: string) => void members.delete(address),
    isReady: (address: string) => members.get(address)?.ready ?? false,
  };
}

test('during a rolling restart of two API processes behind a load balancer, no request fails', {
  timeout: 300_000,
}, async () => {
  const { options, key } = await vaultOnServers();
  const env = {
    ...options.env,
    STRONGROOM_SHUTDOWN_DELAY_SECONDS: String(delaySeconds),
    STRONGROOM_RATE_LIMIT_REQUESTS: '0',
  };
  const start = () => startService(['--role', 'api'], { ...options, env });
  const balancer = await startBalancer();
  const takeIn = async (address: string) => {
    balancer.add(address);
    await until('readiness', 60_000, () => balancer.isReady(address) || undefined);
  };
  let members = [await start(), await start()];
  for (const { address } of members) await takeIn(address);

  let isOver = false;
  const created: string[] = [];
  const failures: string[] = [];
  const caller = async (): Promise<void> => {
    while (!isOver) {
      const body = { type: 'token', data: 'value' };
      const made = await http('POST', `${balancer.address}/tokens`, { key, body });
      const id = String(made.body['id']);
      if (made.status === 201) created.push(id);
      else failures.push(`POST ${made.status} ${made.text}`);
      if (made.status !== 201) continue;
      const got = await http('GET', `${balancer.address}/tokens/${id}`, { key });
      if (got.status !== 200) failures.push(`GET ${got.status} ${got.text}`);
    }
  };
  const load = Promise.all(Array.from({ length: callers }, caller));

  const during: number[] = [];
  for (const old of members) {
    const before = created.length;
    const ended = old.stop();
    // The process reports that it is not ready, but continues to serve requests, because a load balancer may not have
    // noticed the change yet.
    expect(
      await until('503', 30_000, async () => {
        const { status } = await http('GET', `${old.address}/health/ready`);
        return status === 503 ? status : undefined;
      }),
    ).toBe(503);
    expect((await http('GET', `${old.address}/tokens/none`, { key })).status).toBe(404);
    const { code, stdout, stderr } = await ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const messages = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages.filter((message) => message !== 'request')).toEqual(
      expect.arrayContaining([
        'stopping: no longer ready, requests are still accepted',
        'closing the listener; finishing the requests in flight',
        'stopped',
      ]),
    );
    balancer.remove(old.address);
    during.push(created.length - before);
    const next = await start();
    await takeIn(next.address);
    members = [...members.filter((member) => member !== old), next];
  }
  await wait(checkEveryMs);
  isOver = true;
  await load;

  expect(failures).toEqual([]);
  for (const count of during) expect(count, 'creates while one member stopped').toBeGreaterThan(0);
  console.log(
    `${created.length} creates and as many reads, none failed; ${during.join(' and ')} creates while a member stopped`,
  );
});
