import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from '../support/free-ports.js';

export const sharedRedisUrl = process.env['STRONGROOM_TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6479';

/** A Redis server that belongs to one test. The test can stop, freeze and restart the server. */
export type OwnRedis = {
  readonly url: string;
  start(): Promise<void>;
  /** Stops the server with SIGKILL, so the server does not notify its clients. */
  stop(): Promise<void>;
  freeze(): void;
  wake(): void;
  /** Returns all keys and values on the server as one string. */
  everything(): Promise<string>;
  flushAll(): Promise<void>;
  remove(): Promise<void>;
};

export async function ownRedis(): Promise<OwnRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let server: ChildProcess | null = null;
  const withClient = async <T>(use: (client: Redis) => Promise<T>): Promise<T> => {
    const client = new Redis(url, { maxRetriesPerRequest: 100, retryStrategy: () => 50 });
    client.on('error', () => undefined);
    try {
      return await use(client);
    } finally {
      client.disconnect();
    }
  };
  const own: OwnRedis = {
    url,
    async start() {
      const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
      server = spawn('redis-server', [...place, '--save', '', '--appendonly', 'yes'], { stdio: 'ignore' });
      await withClient((client) => client.ping());
    },
    async stop() {
      const stopping = server;
      server = null;
      if (stopping === null) return;
      stopping.kill('SIGCONT');
      stopping.kill('SIGKILL');
      if (stopping.exitCode === null && stopping.signalCode === null) await once(stopping, 'exit');
    },
    freeze: () => void server?.kill('SIGSTOP'),
    wake: () => void server?.kill('SIGCONT'),
    everything: () => withClient(everythingOf),
    flushAll: () => withClient(async (client) => void (await client.flushall())),
    async remove() {
      await own.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await own.start();
  return own;
}

async function everythingOf(client: Redis): Promise<string> {
  const found: string[] = [];
  for (const key of await client.keys('*')) {
    const type = await client.type(key);
    const value =
      type === 'hash'
        ? await client.hgetall(key)
        : type === 'zset'
          ? await client.zrange(key, '0', '-1')
          : type === 'list'
            ? await client.lrange(key, 0, -1)
            : type === 'stream'
              ? await client.xrange(key, '-', '+')
              : type === 'set'
                ? await client.smembers(key)
                : await client.get(key);
    found.push(`${key} ${JSON.stringify(value)}`);
  }
  return found.join('\n');
}

/** Waits until the condition is true or the time limit has passed. Returns whether the condition became true. */
export async function eventually(isSo: () => boolean | Promise<boolean>, limitMs = 20_000): Promise<boolean> {
  const until = performance.now() + limitMs;
  while (performance.now() < until) {
    if (await isSo()) return true;
    await wait(10);
  }
  return isSo();
}
