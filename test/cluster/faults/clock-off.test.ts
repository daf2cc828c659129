import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { http, until } from '../../support/process.js';
import { lookInto } from './look-into.js';
import { ownCluster } from './own-cluster.js';
import { ownServers } from './own-servers.js';

const preload = new URL('./shifted-clock.mjs', import.meta.url).href;
const fiveMinutesMs = 300_000;
/** How long tokens and verification codes live in this test, in ms. */
const lifeMs = 10_000;
/** How long the test waits, in ms. This is longer than one round of the sweep. */
const idleMs = 25_000;

test('a process whose clock is five minutes off neither shows data for too long nor destroys data too early', {
  timeout: 600_000,
}, async () => {
  const servers = await ownServers();
  const cluster = await ownCluster(servers);
  const { key } = cluster;
  const env = { STRONGROOM_CVC_RETENTION_SECONDS: String(lifeMs / 1_000) };
  const off = (shiftMs: number) => ({
    env: { ...env, NODE_OPTIONS: `--import ${preload}`, TEST_CLOCK_SHIFT_MS: String(shiftMs) },
  });
  const [api, fast, slow] = await Promise.all([
    cluster.start('api', { env }),
    cluster.start('all', off(fiveMinutesMs)),
    cluster.start('all', off(-fiveMinutesMs)),
  ]);
  for (const member of [fast, slow]) {
    const { status, reasons } = await member.health();
    expect(status).toBe(503);
    expect(reasons.join()).toMatch(/this machine’s clock is -?\d+ ms off/);
    expect(await http('GET', `${member.address}/health/ready`)).toMatchObject({ status: 503 });
  }
  await expect.poll(api.health).toMatchObject({ status: 200 });

  // Both processes judge these times correctly, although their clocks are wrong. By the slow process's clock, the first
  // time is still in the future. By the fast process's clock, the second time has already passed.
  const create = (base: string, body: object) => http('POST', `${base}/tokens`, { key, body });
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
  const token = { id: 'unborn', type: 'token', data: 1 };
  expect(await create(slow.address, { ...token, expires_at: inMs(-60_000) })).toMatchObject({ status: 400 });
  expect(await create(fast.address, { ...token, id: 'long', expires_at: inMs(280_000) })).toMatchObject({
    status: 201,
  });

  const due = Date.now() + lifeMs;
  const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };
  const bodies = [
    { id: 'brief', type: 'token', data: 'brief', expires_at: new Date(due).toISOString() },
    { id: 'card', type: 'card', data },
  ];
  for (const body of bodies) expect(await create(api.address, body)).toMatchObject({ status: 201 });
  const get = (base: string, id: string) => http('GET', `${base}/tokens/${id}`, { key });
  for (const { address } of [fast, slow]) {
    expect(await get(address, 'brief'), 'while it lives').toMatchObject({ status: 200 });
    expect((await get(address, 'card')).body['data']).toEqual(data);
    expect(await get(address, 'long')).toMatchObject({ status: 200 });
  }
  await wait(Math.max(0, due + 1_000 - Date.now()));
  for (const { address } of [fast, slow, api]) {
    expect(await get(address, 'brief'), 'after its end').toMatchObject({ status: 404 });
    expect((await get(address, 'card')).body['data'], 'after the end of its code').not.toHaveProperty('cvc');
    const { body } = await http('GET', `${address}/tokens`, { key });
    expect((body['data'] as JsonObject[]).map(({ id }) => id).sort()).toEqual(['card', 'long']);
  }
  await wait(idleMs);
  const before = await lookInto(servers, cluster);
  const ends = ['brief', 'card', 'long'].flatMap((id) =>
    ['token.expired', 'token.property.expired', 'token.deleted'].flatMap((type) => before.events(id, type)),
  );
  expect(ends, 'what processes ended whose clock is off').toEqual([]);

  await cluster.start('worker', { env });
  await until('the end of both by a worker whose clock is right', 60_000, async () => {
    const seen = await lookInto(servers, cluster);
    const all = [seen.events('brief', 'token.expired'), seen.events('card', 'token.property.expired')];
    return all.every((events) => events.length === 1) ? true : undefined;
  });
  expect(await get(fast.address, 'long')).toMatchObject({ status: 200 });
});
