import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryRateLimits } from '#src/adapters/memory/memory-rate-limits.js';
import { connectRedis, type RedisConnections } from '#src/adapters/redis/connect-redis.js';
import { rateLimitClientOptions, redisRateLimits } from '#src/adapters/redis/redis-rate-limits.js';
import { openRedis } from '#src/compose/cluster/open-redis.js';
import type { Clock } from '#src/ports/clock.js';
import type { Limit, RateLimits } from '#src/ports/rate-limits.js';
import { rateLimitsContract } from '../contract/rate-limits.js';
import { manualClock } from '../support/manual-clock.js';
import { eventually, type OwnRedis, ownRedis, sharedRedisUrl } from './own-redis.js';

const limit: Limit = { name: 'requests', max: 5, windowMs: 10_000 };
const prefix = `test-${randomUUID()}`;
const noFallback: RateLimits = { use: () => Promise.reject(new Error('counted in the process')) };

let shared: RedisConnections;
beforeAll(async () => {
  shared = connectRedis(sharedRedisUrl, rateLimitClientOptions, () => undefined);
  await eventually(() => shared.client.status === 'ready');
});
afterAll(() => shared.disconnect());

const onShared = (clock: Clock, ownPrefix = prefix): RateLimits =>
  redisRateLimits({
    client: shared.client,
    prefix: ownPrefix,
    clock,
    fallback: noFallback,
    onError: () => undefined,
    limitMs: 5_000,
  });

rateLimitsContract('redis', async (clock) => onShared(clock));

describe('limits that processes share through Redis', () => {
  test('are counted across two processes, even if the clocks differ by the allowed margin', async () => {
    const subject = randomUUID();
    const [ahead, behind] = [manualClock(1_000_000_002_000), manualClock(1_000_000_000_000)];
    const first = onShared(ahead);
    const second = onShared(behind);
    expect(await first.use(limit, subject, 2)).toEqual({ used: 2, endsInMs: 10_000 });
    expect(await second.use(limit, subject, 1)).toEqual({ used: 3, endsInMs: 10_000 });
    expect((await first.use(limit, subject, 1)).used).toBe(4);
  });

  test('do not count a window that began before a clock was set back', async () => {
    const subject = randomUUID();
    const clock = manualClock();
    const limits = onShared(clock);
    await limits.use(limit, subject, 5);
    clock.advance(-60_000);
    expect(await limits.use(limit, subject, 1)).toEqual({ used: 1, endsInMs: 10_000 });
  });

  test('are stored under a key that expires with the window and does not identify an application', async () => {
    const subject = `subject-${randomUUID()}`;
    const clocksApartMs = 2_000;
    // Other tests' keys can expire between the two calls below.
    const ownPrefix = `test-${randomUUID()}`;
    await onShared(manualClock(), ownPrefix).use({ ...limit, windowMs: 60_000 }, subject, 1);
    const keys = await shared.client.keys(`${ownPrefix}:*`);
    expect(keys.filter((key) => key.includes(subject))).toEqual([]);
    const lives = await Promise.all(keys.map((key) => shared.client.pttl(key)));
    expect(Math.max(...lives)).toBeGreaterThan(50_000);
    expect(lives.filter((life) => life < 0 || life > 3_600_000 + clocksApartMs)).toEqual([]);
  });
});

describe('limits while Redis fails', () => {
  let redis: OwnRedis;
  let connections: RedisConnections;
  let errors: unknown[];
  const limits = (pauseMs: number, limitMs?: number): RateLimits => {
    const clock = manualClock();
    errors = [];
    const onError = (error: unknown) => void errors.push(error);
    return redisRateLimits({
      client: connections.client,
      prefix,
      clock,
      fallback: memoryRateLimits(clock),
      onError,
      pauseMs,
      limitMs,
    });
  };
  beforeAll(async () => {
    redis = await ownRedis();
    connections = connectRedis(redis.url, rateLimitClientOptions, () => undefined);
    await eventually(() => connections.client.status === 'ready');
  });
  afterAll(async () => {
    connections.disconnect();
    await redis.remove();
  });

  test('if Redis does not respond, only one use waits for the time limit, and the process then counts on its own', async () => {
    const counted = limits(60_000);
    const subject = randomUUID();
    redis.freeze();
    const began = performance.now();
    expect((await counted.use(limit, subject, 1)).used).toBe(1);
    // By default, the time limit is 200 ms.
    expect(performance.now() - began).toBeLessThan(5_000);
    // A use that waits for Redis is not counted before the next turn of the event loop.
    expect(await Promise.race([counted.use(limit, subject, 1), nextTurn('waits')])).toMatchObject({ used: 2 });
    redis.wake();
    expect(String(errors)).toBe('StoreUnavailable: redis: no_answer');
  });

  test('if Redis stops, the process counts on its own immediately; after a restart, Redis counts again', async () => {
    // A use that waited for Redis would take 20 seconds.
    const counted = limits(50, 20_000);
    const subject = randomUUID();
    expect(await eventually(() => connections.client.status === 'ready')).toBe(true);
    expect((await counted.use(limit, subject, 3)).used).toBe(3);
    await redis.stop();
    expect((await counted.use(limit, subject, 1)).used).toBe(1);
    const began = performance.now();
    for (let uses = 0; uses < 20; uses += 1) {
      await counted.use(limit, randomUUID(), 1);
      await wait(20);
    }
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(errors).toHaveLength(1);
    await redis.start();
    await redis.flushAll();
    const isCountedThere = async () => {
      await counted.use(limit, subject, 1);
      return (await redis.everything()).includes(prefix);
    };
    expect(await eventually(isCountedThere)).toBe(true);
  });

  test('if the server becomes a replica, the client reconnects and finds the new primary', async () => {
    const [old, next] = [await ownRedis(), await ownRedis()];
    // The address of the primary leads to another server after the failover, but existing connections stay open.
    let primary = old;
    const sockets: Socket[] = [];
    const address = createServer((client) => {
      const server = connect(Number(new URL(primary.url).port), '127.0.0.1');
      client.pipe(server).pipe(client);
      for (const socket of [client, server]) sockets.push(socket.on('error', () => undefined));
    }).listen(0, '127.0.0.1');
    await once(address, 'listening');
    const { port } = address.address() as AddressInfo;
    const failingOver = connectRedis(`redis://127.0.0.1:${port}`, rateLimitClientOptions, () => undefined);
    try {
      expect(await eventually(() => failingOver.client.status === 'ready')).toBe(true);
      const clock = manualClock();
      const onError = () => undefined;
      const { client } = failingOver;
      const counted = redisRateLimits({
        client,
        prefix,
        clock,
        fallback: memoryRateLimits(clock),
        onError,
        pauseMs: 50,
      });
      await counted.use(limit, randomUUID(), 1);
      expect(await old.everything()).toContain(prefix);
      primary = next;
      await failingOver.client.replicaof('127.0.0.1', Number(new URL(next.url).port));
      const isCountedThere = async () => {
        await counted.use(limit, randomUUID(), 1);
        return (await next.everything()).includes(prefix);
      };
      expect(await eventually(isCountedThere)).toBe(true);
    } finally {
      failingOver.disconnect();
      for (const socket of sockets) socket.destroy();
      address.close();
      await Promise.all([old.remove(), next.remove()]);
    }
  });
});

test('a Redis that responds but stores nothing counts as a problem', async () => {
  const own = await ownRedis();
  const admin = new Redis(own.url);
  const { prove, close } = openRedis({
    url: own.url,
    prefix,
    clock: manualClock(0),
    fallback: noFallback,
    onError: () => undefined,
  });
  try {
    await eventually(async () => (await prove().catch(() => null)) === 'ok');
    await admin.config('SET', 'maxmemory', '1');
    expect(await prove()).toMatchObject({ says: expect.stringMatching(/^Redis rejects writes \(oom\)/) });
    await admin.config('SET', 'maxmemory', '0');
    await admin.call('ACL', 'SETUSER', 'default', '-eval');
    expect(await prove()).toMatchObject({ says: expect.stringMatching(/^Redis rejects writes \(noperm\)/) });
    await admin.call('ACL', 'SETUSER', 'default', '+eval');
    expect(await prove()).toBe('ok');
  } finally {
    await close();
    admin.disconnect();
    await own.remove();
  }
});
