import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { chance, createModel, hiddenEarlyMsMax } from '../../crash/model.js';
import { type HttpAnswer, http, until } from '../../support/process.js';
import { answered } from './answered.js';
import { allErased } from './look-into.js';
import { caughtUp, type Member, type OwnCluster, ownCluster } from './own-cluster.js';
import { type OwnServers, ownServers } from './own-servers.js';

const seed = Number(process.env['STRONGROOM_CRASH_SEED'] ?? randomInt(2 ** 31));
const downMs = 20_000;
/** Once the server is back, everything must work again within this time, in ms. */
const recoveredWithinMs = 20_000;
const steadyTokens = 5;

type Outage = { stop(servers: OwnServers): Promise<void>; start(servers: OwnServers): Promise<void> | void };

const eventStoreDb: Outage = {
  stop: ({ eventStore }) => eventStore.kill(),
  start: ({ eventStore }) => eventStore.start(),
};
const mongoDb: Outage = {
  stop: async ({ mongo }) => mongo[0]?.kill(),
  start: ({ mongo }) => mongo[0]?.start(),
};

test(`EventStoreDB is down for 20 s: reads still work, and nothing acknowledged is lost (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  await outage(eventStoreDb, (what, answer) => {
    if (what === 'create') expectUnavailable(answer);
    else expectRight(what, answer);
  });
});

test(`MongoDB is down for 20 s: nothing acknowledged is lost, and the service recovers on its own (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  await outage(mongoDb, (_what, answer) => expectUnavailable(answer));
});

/**
 * Takes a server down under load and brings it back. Then checks that the stored state matches what was acknowledged.
 */
async function outage({ stop, start }: Outage, expectDown: (what: string, answer: HttpAnswer) => void): Promise<void> {
  const servers = await ownServers();
  const cluster = await ownCluster(servers);
  const model = createModel(cluster.key, chance(seed), { marginMs: hiddenEarlyMsMax });
  const [api] = await Promise.all([cluster.start('api'), cluster.start('worker')]);
  await makeSteady(api, cluster);
  const load = new AbortController();
  const callers = Promise.all(Array.from({ length: 4 }, () => model.caller(api.address, load.signal)));
  await answered(model, callers, 50);

  await stop(servers);
  const upAt = performance.now() + downMs;
  const asked: Record<string, number> = {};
  while (performance.now() < upAt) {
    for (const [what, ask] of questions(api, cluster)) {
      const answer = await ask();
      if (performance.now() < upAt) expectDown(what, answer);
      asked[what] = (asked[what] ?? 0) + 1;
    }
    await wait(100);
  }
  await start(servers);
  const backAt = performance.now();
  await until('an answered create', recoveredWithinMs, async () => {
    const { status } = await http('POST', `${api.address}/tokens`, {
      key: cluster.key,
      body: { type: 'token', data: 1 },
    });
    if (status !== 503) expect(status).toBe(201);
    return status === 201 ? true : undefined;
  });
  const recoveredMs = Math.round(performance.now() - backAt);
  await answered(model, callers, 50);
  load.abort();
  await callers;

  for (const [what, ask] of questions(api, cluster)) {
    const answer = await ask();
    if (what === 'create') expect(answer.status, answer.text).toBe(201);
    else expectRight(what, answer);
  }
  await caughtUp(api);
  await allErased(servers, cluster);
  expect(await model.check(api.address)).toEqual([]);
  console.log(
    `asked ${JSON.stringify(asked)} while down; back after ${recoveredMs} ms; ${JSON.stringify(model.acknowledged)}, ${model.unavailable()} unavailable`,
  );
}

async function makeSteady({ address }: Member, { key }: OwnCluster): Promise<void> {
  for (let index = 0; index < steadyTokens; index += 1) {
    const body = { id: `steady-${index}`, type: 'token', data: `value ${index}`, metadata: { kind: 'steady' } };
    expect(await http('POST', `${address}/tokens`, { key, body })).toMatchObject({ status: 201 });
  }
}

function questions({ address }: Member, { key }: OwnCluster) {
  const search = { query: 'metadata.kind:steady' };
  return [
    ['get', () => http('GET', `${address}/tokens/steady-1`, { key })],
    ['list', () => http('GET', `${address}/tokens?metadata.kind=steady`, { key })],
    ['search', () => http('POST', `${address}/tokens/search`, { key, body: search })],
    ['detokenize', () => http('POST', `${address}/detokenize`, { key, body: { it: '{{ steady-2 }}' } })],
    ['create', () => http('POST', `${address}/tokens`, { key, body: { type: 'token', data: 1 } })],
  ] as const;
}

function expectUnavailable({ status, headers, text }: HttpAnswer): void {
  expect(status, text).toBe(503);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
}

function expectRight(what: string, { status, text, body }: HttpAnswer): void {
  expect(status, `${what}: ${text}`).toBe(200);
  if (what === 'get') expect(body['data']).toBe('value 1');
  else if (what === 'detokenize') expect(body).toEqual({ it: 'value 2' });
  else expect((body['pagination'] as JsonObject)['total_items'], what).toBe(steadyTokens);
}
