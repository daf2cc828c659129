import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../../jobs/receiver.js';
import { http, until } from '../../support/process.js';
import { ownCluster } from './own-cluster.js';
import { ownServers } from './own-servers.js';

const limitMs = 60_000;

test('no delivery is lost, even if Redis loses its data and a worker is killed', { timeout: 400_000 }, async () => {
  const servers = await ownServers();
  const cluster = await ownCluster(servers);
  const receiver = await startReceiver();
  const env = { STRONGROOM_WEBHOOKS_ALLOW_PRIVATE_TARGETS: 'true' };
  try {
    const [api, first] = await Promise.all([cluster.start('api', { env }), cluster.start('worker', { env })]);
    const body = { url: receiver.url, event_types: ['token.created', 'token.deleted'] };
    const created = await http('POST', `${api.address}/webhooks`, { key: cluster.managementKey, body });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    const ids: string[] = [];
    const make = async (what: string): Promise<void> => {
      for (let count = 0; count < 10; count += 1) {
        const id = `token-${what}-${count}`;
        const answer = await http('POST', `${api.address}/tokens`, {
          key: cluster.key,
          body: { id, type: 'token', data: what },
        });
        expect(answer.status, what).toBe(201);
        ids.push(id);
      }
    };
    const jobs = await watchJobs(servers.redisUrl);
    await make('well');
    await toldOf(receiver, ids);
    // The deliveries went through Redis, but no job in Redis contains the id of a token.
    const carried = await jobs.stop();
    expect(carried).toContain(String(created.body['id']));
    expect(carried).not.toContain('token-well');

    await make('flushed');
    const client = new Redis(servers.redisUrl);
    await client.flushall();
    client.disconnect();
    await toldOf(receiver, ids);

    // The worker is killed while deliveries are in progress and the receiver has not responded to them yet.
    receiver.respond = () => undefined;
    await make('killed');
    await until('a delivery under way', limitMs, () => (namesOf(receiver).has('token-killed-0') ? true : undefined));
    await first.stop('SIGKILL');
    receiver.received.splice(
      0,
      receiver.received.length,
      ...receiver.received.filter(({ text }) => !text.includes('killed')),
    );
    receiver.respond = (response) => response.writeHead(204).end();
    await cluster.start('worker', { env });
    await toldOf(receiver, ids);

    await servers.redis.kill();
    await make('down');
    await toldOf(receiver, ids);
    const deleted = await http('DELETE', `${api.address}/tokens/${ids[0]}`, { key: cluster.key });
    expect(deleted.status).toBe(204);
    await until('the deletion, with its id', limitMs, () =>
      receiver.received.some(({ body: { type }, data }) => type === 'token.deleted' && data['token_id'] === ids[0])
        ? true
        : undefined,
    );
    await servers.redis.start();
    await make('restarted');
    await toldOf(receiver, ids);
  } finally {
    await receiver.close();
  }
});

function namesOf({ received }: Receiver): ReadonlySet<string> {
  return new Set(received.map(({ data }) => String(data['token_id'])));
}

/** Waits until the receiver has been notified about each of these tokens. */
async function toldOf(receiver: Receiver, ids: readonly string[]): Promise<void> {
  await until(`${ids.length} tokens to be told`, limitMs, () => {
    const names = namesOf(receiver);
    return ids.every((id) => names.has(id)) ? true : undefined;
  });
}

/** Records all commands received by Redis. `stop` ends the recording, and returns the commands as one string. */
async function watchJobs(url: string): Promise<{ stop(): Promise<string> }> {
  const seen: string[] = [];
  const client = new Redis(url);
  const monitor = await client.monitor();
  monitor.on('monitor', (_time: string, args: readonly string[]) => seen.push(args.join(' ')));
  return {
    async stop() {
      monitor.disconnect();
      client.disconnect();
      return seen.join('\n');
    },
  };
}
