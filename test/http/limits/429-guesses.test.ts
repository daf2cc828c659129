import { expect, test } from 'vitest';
import type { Json } from '#src/domain/json.js';
import type { UnitOfWork } from '#src/ports/unit-of-work.js';
import { rule, type TestService } from '../../support/test-service.js';
import { create, createPlain, expectRefusal, hourMs, path, uniqueId } from '../routes/support.js';
import { limitedService, metric } from './support.js';

const exhausted = { status: 429, code: 'guesses_exhausted' };
const writeOnly = ['token:create', 'token:update'] as const;

/** Creates a token with deduplication, as an attacker who tries out values would. */
const guess = (service: TestService, key: string, data: unknown) =>
  service.call('POST', '/tokens', { type: 'token', data, deduplicate_token: true }, { key });

/** Sends a request whose first three commits conflict with other requests. */
async function withConflicts(vault: TestService['vault'], send: () => ReturnType<TestService['call']>) {
  const work = vault.work as { commit: UnitOfWork['commit'] };
  const { commit } = work;
  let conflicts = 0;
  work.commit = async (change) => {
    if (conflicts === 3) return commit(change);
    conflicts += 1;
    return { outcome: 'conflict' };
  };
  const answer = await send();
  work.commit = commit;
  expect(conflicts).toBe(3);
  return answer;
}

test('deduplications that find unreadable tokens are counted, and above the budget, they return 429 for an hour', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 2 });
  const secret = await createPlain(service, { data: uniqueId() });
  const key = await service.application(writeOnly);
  expect((await guess(service, key, uniqueId())).body).not.toHaveProperty('_extras');
  for (let times = 0; times < 2; times += 1) {
    expect((await guess(service, key, secret['data'])).body).toMatchObject({ id: secret.id });
  }
  // Above the budget, right and wrong guesses are rejected alike. If only one kind were rejected, the response would
  // reveal whether the guess is right.
  service.clock.advance(600_000);
  const { headers } = await expectRefusal(service, () => guess(service, key, secret['data']), exhausted);
  expect(headers['retry-after']).toBe('3000');
  await expectRefusal(service, () => guess(service, key, uniqueId()), exhausted);
  expect(await metric(service, 'strongroom_guesses_total{budget="guesses"}')).toBe(2);
  expect(await metric(service, 'strongroom_guess_budgets_exhausted_total{budget="guesses"}')).toBe(1);
  expect(await metric(service, 'strongroom_rate_limited_total{limit="guesses"}')).toBe(2);

  service.clock.advance(hourMs - 600_000);
  expect((await guess(service, key, secret['data'])).status).toBe(201);
});

test.each(['/tokens', '/tokenize'])(
  'above the budget, POST %s with an id in use does not distinguish a right guess from a wrong one',
  async (url) => {
    const service = await limitedService({ requests: 1_000, guesses: 1 });
    const secret = await createPlain(service, { data: uniqueId() });
    const key = await service.application(writeOnly);
    await guess(service, key, secret['data']);
    const { id } = await createPlain(service);
    const under = (data: unknown) => () => {
      const request = { id, type: 'token', data, deduplicate_token: true };
      return service.call('POST', url, url === '/tokens' ? request : [request], { key });
    };
    await expectRefusal(service, under(secret['data']), exhausted);
    await expectRefusal(service, under(uniqueId()), exhausted);
  },
);

test('above the budget, all other requests and other applications still work', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 1 });
  const secret = await createPlain(service, { data: uniqueId() });
  const key = await service.application(writeOnly);
  await guess(service, key, secret['data']);
  await expectRefusal(service, () => guess(service, key, uniqueId()), exhausted);
  const plain = await service.call('POST', '/tokens', { type: 'token', data: 1 }, { key });
  expect(plain.status).toBe(201);
  const other = await service.application(writeOnly);
  expect((await guess(service, other, secret['data'])).status).toBe(201);
});

test('an update that finds the fingerprint of an unreadable token is a guess as well', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 1 });
  const secret = await createPlain(service, { data: uniqueId(), containers: ['/secret/'] });
  const key = await service.application([rule('/own/', 'mask', ['token:create', 'token:update', 'token:read'])]);
  const own = await createPlain(service, { data: uniqueId(), containers: ['/own/'] });
  const update = (fields: object) => service.call('PATCH', path(own.id), fields, { key });
  const onto = (data: unknown) => update({ data, deduplicate_token: true });
  expect((await onto(secret['data'])).body).toMatchObject({ id: secret.id });
  await expectRefusal(service, () => onto(uniqueId()), exhausted);
  expect((await update({ metadata: { a: 'b' }, deduplicate_token: true })).status).toBe(200);
  expect((await update({ data: uniqueId() })).status).toBe(200);
});

test('an update that confirms one of the values that a fingerprint reads is a guess', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 2 });
  const data = { routing_number: '110000000', account_number: '12345678' };
  const { id } = await create(service, { type: 'bank', data });
  const key = await service.application([rule('/', 'mask', ['token:update', 'token:read'])]);
  const update = (fields: object) => service.call('PATCH', path(id), { ...fields, deduplicate_token: true }, { key });
  const confirm = (account_number: string) => () => update({ data: { account_number } });
  expect((await confirm('12345678')()).status).toBe(200);
  await expectRefusal(service, confirm('12345679'), { status: 403, code: 'reveal_required' });
  await expectRefusal(service, confirm('12345678'), exhausted);
  await expectRefusal(service, confirm('12345679'), exhausted);
  expect(await metric(service, 'strongroom_guesses_total{budget="guesses"}')).toBe(2);
});

test('an update that confirms the absence of one of the values that a fingerprint reads is a guess', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 4 });
  const fingerprint_expression = '{{ data.p.a }}|{{ data.b }}';
  const { id } = await create(service, { type: 'token', data: { b: 'secret' }, fingerprint_expression });
  const key = await service.application([rule('/general/', 'mask', ['token:update'])]);
  const update = (p: Json) => service.call('PATCH', path(id), { data: { p }, deduplicate_token: true }, { key });
  for (const p of [{ a: null }, null, 'text']) expect((await update(p)).status).toBe(200);
  expect(await metric(service, 'strongroom_guesses_total{budget="guesses"}')).toBe(3);
});

test('an update that conflicts with other requests is one guess', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 1 });
  const { vault } = service;
  const data = { routing_number: '110000000', account_number: '12345678' };
  const { id } = await create(service, { type: 'bank', data });
  const key = await service.application([rule('/', 'mask', ['token:update', 'token:read'])]);
  const patch = { data: { account_number: '12345678' }, metadata: { a: 'b' }, deduplicate_token: true };
  const answer = await withConflicts(vault, () => service.call('PATCH', path(id), patch, { key }));
  expect(answer.status, answer.text).toBe(200);
  expect(await metric(service, 'strongroom_guesses_total{budget="guesses"}')).toBe(1);
});

test('a create that conflicts with other requests is one guess for each unreadable token that it finds', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 1 });
  const secret = await createPlain(service, { data: uniqueId() });
  const key = await service.application(writeOnly);
  const distinct = (data: unknown) => ({ type: 'token', data, deduplicate_token: true });
  const body = [distinct(secret['data']), distinct(uniqueId())];
  const answer = await withConflicts(service.vault, () => service.call('POST', '/tokenize', body, { key }));
  expect(answer.status, answer.text).toBe(200);
  expect(await metric(service, 'strongroom_guesses_total{budget="guesses"}')).toBe(1);
});

test('an update of data that the fingerprint does not read is never a guess', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 1 });
  const { id } = await create(service, { type: 'card', data: { number: '4242424242424242' } });
  const key = await service.application([rule('/', 'mask', ['token:update'])]);
  for (const expiration_month of [1, 2, 3]) {
    const body = { data: { expiration_month }, deduplicate_token: true };
    expect((await service.call('PATCH', path(id), body, { key })).status).toBe(200);
  }
  const named = { metadata: { name: 'a' }, fingerprint_expression: '{{ metadata.name }}' };
  const { id: other } = await create(service, { type: 'token', data: { name: 'b' }, ...named });
  const body = { data: { name: 'c' }, deduplicate_token: true };
  expect((await service.call('PATCH', path(other), body, { key })).status).toBe(200);
  expect(await metric(service, 'strongroom_guesses_total{budget="guesses"}')).toBe(0);
});

test('a create by a caller that may read every token is never a guess', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 1 });
  const known = await createPlain(service, { data: uniqueId() });
  for (let times = 0; times < 5; times += 1) {
    expect((await guess(service, service.key, known['data'])).body).toMatchObject({ id: known.id });
  }
  expect(await metric(service, 'strongroom_guesses_total{budget="guesses"}')).toBe(0);
});

test.each([
  { requests: 0, guesses: 1 },
  { requests: 1_000, guesses: 0 },
])('with %j, there is no budget, but guesses are still counted', async (limits) => {
  const service = await limitedService(limits);
  const secret = await createPlain(service, { data: uniqueId() });
  const key = await service.application(writeOnly);
  for (let times = 0; times < 5; times += 1) expect((await guess(service, key, secret['data'])).status).toBe(201);
  expect(await metric(service, 'strongroom_guesses_total{budget="guesses"}')).toBe(5);
});

test('a retry whose body has another fingerprint is a guess, and above the budget, no retry shows a fingerprint', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 2 });
  const key = await service.application(['token:create'], 'public');
  const headers = { 'idempotency-key': uniqueId() };
  const send = (data: string) => create(service, { type: 'token', data }, { key, headers });
  const { id, fingerprint } = await send('secret');
  for (let times = 0; times < 3; times += 1) expect(await send('secret')).toMatchObject({ id, fingerprint });
  for (let times = 0; times < 3; times += 1) expect(await send('guess')).not.toHaveProperty('fingerprint');
  expect(await metric(service, 'strongroom_guesses_total{budget="guesses"}')).toBe(2);
  const again = await send('secret');
  expect(again.id).toBe(id);
  expect(again).not.toHaveProperty('fingerprint');
  const bare = { key, headers: { 'idempotency-key': uniqueId() } };
  const tokenize = (value: string) => service.call('POST', '/tokenize', [value], bare);
  expect((await tokenize('other')).text).toBe((await tokenize('secret')).text);
});
