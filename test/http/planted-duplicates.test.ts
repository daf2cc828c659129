import { expect, test as plainTest } from 'vitest';
import type { Json, JsonObject } from '#src/domain/json.js';
import { rule, startTestService, type TestService } from '../support/test-service.js';
import { tokenize } from './routes/batch.js';
import { create, createPlain, hourMs, path, read, test, uniqueId } from './routes/support.js';

const inForce = { deduplicate_token: true };

/** Stores other data under the fingerprint that `value` has by default. Such an application needs only to create. */
async function plant(service: TestService, value: string, more: object = {}) {
  const key = await service.application(['token:create'], 'public');
  const body = { type: 'token', data: 'attacker@evil.example', fingerprint_expression: value, ...more };
  return create(service, body, { key });
}

/** Two callers: one that sees everything in plaintext, and one that may read nothing. */
const callers = async (service: TestService) => [service.key, await service.application(['token:create'])];

test('a planted token is never returned in place of a value, whether it was stored before or after the value', async ({
  service,
}) => {
  for (const key of await callers(service)) {
    const data = uniqueId();
    const planted = await plant(service, data);
    const send = () => create(service, { type: 'token', data, ...inForce }, { key });
    const made = await send();
    expect(made).not.toHaveProperty('_extras');
    expect(made['fingerprint']).toBe(planted['fingerprint']);
    expect(await read(service, made.id)).toMatchObject({ data });
    await plant(service, data);
    await plant(service, data, inForce);
    expect(await send()).toMatchObject({ id: made.id, _extras: { deduplicated: true } });
  }
});

test('concurrent creates of a value with planted tokens result in one token, even while more are planted', async ({
  service,
}) => {
  const data = uniqueId();
  await plant(service, data);
  const bodies = Array.from({ length: 20 }, () => ({ type: 'token', data, ...inForce }));
  const plants = Array.from({ length: 5 }, () => plant(service, data, inForce));
  const created = await Promise.all(bodies.map((body) => create(service, body)));
  await Promise.all(plants);
  expect(new Set(created.map(({ id }) => id)).size).toBe(1);
  expect(created.filter((token) => token['_extras'] === undefined)).toHaveLength(1);
  for (const token of created) expect(token['data']).toBe(data);
});

test('above 16 planted tokens, a value is stored, without deduplication', async ({ service }) => {
  const data = uniqueId();
  const expression = '{{ data.as }}';
  const key = await service.application(['token:create'], 'public');
  for (let count = 0; count < 17; count += 1) {
    await create(service, { type: 'token', data: { as: data, count }, fingerprint_expression: expression }, { key });
  }
  const made = [1, 2].map(() => create(service, { type: 'token', data, ...inForce }));
  for (const token of await Promise.all(made)) expect(token).toMatchObject({ data });
  expect(await create(service, { type: 'token', data, ...inForce })).toMatchObject({
    data,
    _extras: { deduplicated: true },
  });
});

test('tokenize stores a value although an earlier token, or an earlier part, was planted for it', async ({
  service,
}) => {
  const data = uniqueId();
  await plant(service, data);
  const value = { type: 'token', data, ...inForce };
  const planted = { type: 'token', data: 'other', fingerprint_expression: data };
  for (const first of [planted, { ...planted, ...inForce }]) {
    const [, made, again] = (await tokenize(service, [first, value, value])) as [Json, JsonObject, JsonObject];
    expect(made).toMatchObject({ data });
    expect(again).toMatchObject({ id: made['id'], _extras: { deduplicated: true } });
  }
});

test('concurrent requests to tokenize store a value once, although each has a part that was planted for it', async ({
  service,
}) => {
  for (const more of [{}, inForce]) {
    const data = uniqueId();
    const parts = [
      { type: 'token', data: 'other', fingerprint_expression: data, ...more },
      { type: 'token', data, ...inForce },
    ];
    const answers = await Promise.all(Array.from({ length: 10 }, () => tokenize(service, parts)));
    const made = answers.map((answer) => (answer as [Json, JsonObject])[1]);
    for (const token of made) expect(token).toMatchObject({ data });
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  }
});

test('a string is no duplicate of the number or the object that it spells', async ({ service }) => {
  const text = uniqueId();
  for (const data of [{ text }, 123_456_789]) {
    const planted = await plant(service, JSON.stringify(data), {
      data: JSON.stringify(data),
      fingerprint_expression: null,
    });
    const made = await create(service, { type: 'token', data, ...inForce });
    expect(made).toMatchObject({ data, fingerprint: planted['fingerprint'] });
    expect(made).not.toHaveProperty('_extras');
    expect(await create(service, { type: 'token', data, ...inForce })).toMatchObject({ id: made.id, data });
  }
});

test('an array is no duplicate of an object, even if one expression has the same value for both', async ({
  service,
}) => {
  const value = uniqueId();
  const token = { type: 'token', fingerprint_expression: '{{ data[0] }}', ...inForce };
  const array = await create(service, { ...token, data: [value] });
  const object = await create(service, { ...token, data: { 0: value } });
  expect(object).toMatchObject({ data: { 0: value }, fingerprint: array['fingerprint'] });
  expect(object).not.toHaveProperty('_extras');
  expect(await create(service, { ...token, data: [value, 'more'] })).toMatchObject({ id: array.id });
});

test('an update is not answered with a token that was planted for the new value', async ({ service }) => {
  const own = await createPlain(service, { data: 'before' });
  const data = uniqueId();
  await plant(service, data);
  const update = (id: string) => service.call('PATCH', path(id), { data, ...inForce });
  expect((await update(own.id)).body).toMatchObject({ id: own.id, data });
  expect((await update((await createPlain(service)).id)).body).toMatchObject({ id: own.id });
});

test('tokens with different expressions are duplicates if one expression agrees on both values', async ({
  service,
}) => {
  const blind = await service.application(['token:create']);
  const card = (number: string, more: object = {}) => ({ type: 'card', data: { number }, ...more });
  const own = { fingerprint_expression: '{{data.number}}' };
  for (const [number, stored, sent, key] of [
    ['4000056655665556', own, {}, blind],
    ['5200828282828210', {}, own, blind],
    ['378282246310005', own, { fingerprint_expression: '{{ data.number | strip }}' }, blind],
    ['6011111111111117', own, { fingerprint_expression: '{{ data.number | strip }}' }, service.key],
  ] as const) {
    const { id } = await create(service, card(number, stored));
    const again = await create(service, card(number, { ...sent, ...inForce }), { key });
    expect(again, number).toMatchObject({ id, _extras: { deduplicated: true } });
  }
});

test('a caller that may not see a token cannot probe its data with an expression of its own', async ({ service }) => {
  const number = '30569309025904';
  const { id } = await create(service, { type: 'card', data: { number, pin_hint: 'b' } });
  const key = await service.application([rule('/', 'mask', ['token:create', 'token:read'])]);
  const probe = (guess: string) => {
    const fingerprint_expression = `{{ data.number }}{{ data.pin_hint | replace: '${guess}', '' }}`;
    return create(service, { type: 'card', data: { number }, fingerprint_expression, ...inForce }, { key });
  };
  // The default expression decides for this caller, so a wrong guess and a right guess have the same result.
  for (const guess of ['a', 'b']) expect(await probe(guess)).toMatchObject({ id });
  const own = { fingerprint_expression: `{{ data.number | append: '-own' }}` };
  const secret = await create(service, { type: 'card', data: { number, pin_hint: 'b' }, ...own });
  const found = [];
  for (const guess of ['a', 'b']) {
    const fingerprint_expression = `{{ data.number }}{{ data.pin_hint | replace: '${guess}', '' }}-own`;
    const body = { type: 'card', data: { number }, fingerprint_expression, deduplicate_token: true };
    found.push((await create(service, body, { key })).id === secret.id);
  }
  expect(found).toEqual([false, false]);
});

test('an update does not compare hidden data of the token itself', async ({ service }) => {
  const numbers = ['36227206271667', '3530111333300000'] as const;
  const fingerprint_expression = '{{ data.customer }}';
  const key = await service.application([rule('/', 'mask', ['token:create', 'token:update'])]);
  const ids = [];
  for (const number of numbers) {
    const data = { number: numbers[0], customer: uniqueId() };
    const { id } = await create(service, { type: 'card', data, fingerprint_expression });
    await create(service, { type: 'card', data: { number } }, { key });
    const patch = { data: { customer: number }, ...inForce };
    const { body } = await service.call('PATCH', path(id), patch, { key });
    ids.push(body['id'] === id);
  }
  expect(ids).toEqual([true, true]);
});

test('the response to a deduplicated create shows when the existing token expires', async ({ service }) => {
  const data = uniqueId();
  const expires_at = new Date(service.clock.now() + hourMs).toISOString();
  const { id } = await plant(service, data, { data, fingerprint_expression: null, expires_at });
  for (const key of await callers(service)) {
    const answer = await create(service, { type: 'token', data, ...inForce }, { key });
    expect(Date.parse(String(answer['expires_at']))).toBe(Date.parse(expires_at));
    expect(answer).toMatchObject({ id, _extras: { deduplicated: true } });
  }
});

plainTest('with the tenant’s setting, a single value becomes neither a planted nor an expiring token', async () => {
  const service = await startTestService();
  const tenant = { name: 'test', settings: { deduplicate_tokens: 'true' } };
  await service.call('PUT', '/tenants/self', tenant, { key: service.managementKey });
  const value = uniqueId();
  await plant(service, value);
  const [email] = (await tokenize(service, [value])) as [string];
  expect(await read(service, email)).toMatchObject({ data: value });
  const short = uniqueId();
  const expires_at = new Date(service.clock.now() + 3_000).toISOString();
  const parts = [{ type: 'token', data: short, expires_at }, short, short];
  const [first, second, third] = (await tokenize(service, parts)) as [JsonObject, string, string];
  expect(second).not.toBe(first['id']);
  expect(third).toBe(second);
  service.clock.advance(3_000);
  expect(await read(service, second)).toMatchObject({ data: short });
  expect(service.errors).toEqual([]);
  await service.close();
});
