import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { http, until } from '../../support/process.js';
import { allErased, lookInto } from './look-into.js';
import { type OwnCluster, ownCluster } from './own-cluster.js';
import { type OwnServers, ownServers } from './own-servers.js';

/** In normal operation, an expiry is recorded within this time (docs/contract.md, "Expiry"). */
const minuteMs = 60_000;
const limit = 30;

test('expiry and purge are recorded within a minute, and limits apply, even if Redis loses its data', {
  timeout: 600_000,
}, async () => {
  const servers = await ownServers();
  const cluster = await ownCluster(servers);
  // The shortest retention time that the settings allow for verification codes.
  const env = { STRONGROOM_CVC_RETENTION_SECONDS: '6' };
  const limits = { ...env, STRONGROOM_RATE_LIMIT_REQUESTS: String(limit), STRONGROOM_RATE_LIMIT_WINDOW_SECONDS: '60' };
  // Requests must be limited too, because a vault without a limit on requests has no limit on guesses either.
  const guessing = { ...env, STRONGROOM_RATE_LIMIT_REQUESTS: '100000', STRONGROOM_RATE_LIMIT_GUESSES: '3' };
  const [api, limited, guessed] = await Promise.all([
    cluster.start('api', { env }),
    cluster.start('api', { env: limits }),
    cluster.start('api', { env: guessing }),
    cluster.start('worker', { env }),
  ]);
  const late: Record<string, number> = {};
  const record = async (what: string, meanwhile: () => Promise<void> | void) => {
    late[what] = await latenessMs(servers, cluster, api.address, what, meanwhile);
    expect(late[what], `${what}: how late it was recorded`).toBeLessThan(minuteMs);
  };
  const guess = async () =>
    (await http('POST', `${guessed.address}/detokenize`, { key: cluster.key, body: '{{ nothing }}' })).status;
  expect([await guess(), await guess(), await guess(), await guess()]).toEqual([400, 400, 400, 429]);
  await record('all-well', () => undefined);
  await record('flushed', async () => {
    const client = new Redis(servers.redisUrl);
    await client.flushall();
    client.disconnect();
  });
  expect(await refusals(limited.address, cluster.key), 'refused by limits that all share').toBeGreaterThan(0);
  expect(await guess(), 'guesses after Redis lost everything').toBe(429);
  await servers.redis.kill();
  await record('down', () => undefined);
  expect(await refusals(limited.address, cluster.key), 'refused by limits while Redis is down').toBeGreaterThan(0);
  expect(await guess(), 'guesses while Redis is down').toBe(429);
  await expect
    .poll(api.health, { message: 'ready without Redis' })
    .toMatchObject({ status: 200, stores: { redis: 'down' } });
  await record('restarted', () => servers.redis.start());
  await until('Redis to be seen again', 30_000, async () =>
    (await api.health()).stores['redis'] === 'up' ? true : undefined,
  );
  await record('well-again', () => undefined);
  await allErased(servers, cluster);
  console.log(`recorded so many ms after it was due: ${JSON.stringify(late)}`);
});

/**
 * Creates a token that expires and a card whose verification code is purged. Then runs `meanwhile`, and waits until
 * both the expiry and the purge are recorded. Returns how late the later of the two was, in ms.
 */
async function latenessMs(
  servers: OwnServers,
  cluster: OwnCluster,
  base: string,
  what: string,
  meanwhile: () => Promise<void> | void,
): Promise<number> {
  const { key } = cluster;
  const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };
  const expiresAt = Date.now() + 6_000;
  const bodies = [
    { id: `brief-${what}`, type: 'token', data: what, expires_at: new Date(expiresAt).toISOString() },
    { id: `card-${what}`, type: 'card', data: card },
  ];
  for (const body of bodies) {
    expect(await http('POST', `${base}/tokens`, { key, body }), what).toMatchObject({ status: 201 });
  }
  const purgeAt = Date.now() + 6_000;
  await meanwhile();
  await wait(Math.max(0, purgeAt - Date.now()));
  expect(await http('GET', `${base}/tokens/brief-${what}`, { key }), what).toMatchObject({ status: 404 });
  const read = await http('GET', `${base}/tokens/card-${what}`, { key });
  expect(read.body['data'], what).not.toHaveProperty('cvc');
  const at = await until(`expiry and purge of ${what}`, minuteMs, async () => {
    const seen = await lookInto(servers, cluster);
    const [expired] = seen.events(`brief-${what}`, 'token.expired');
    const [purged] = seen.events(`card-${what}`, 'token.property.expired');
    return expired === undefined || purged === undefined ? undefined : [expired.time, purged.time];
  });
  return Math.max(Number(at[0]) - expiresAt, Number(at[1]) - purgeAt);
}

/**
 * Sends twice as many requests as the limit allows. Checks that each response is either 404 or 429, and returns how
 * many requests were rejected with 429.
 */
async function refusals(base: string, key: string): Promise<number> {
  const asked = Array.from({ length: 2 * limit }, () => http('GET', `${base}/tokens/nothing`, { key }));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 404 && status !== 429)).toEqual([]);
  return statuses.filter((status) => status === 429).length;
}
