import { expect, test } from 'vitest';
import { diagnose } from '#src/cli/doctor/diagnose.js';
import { rule, type TestService } from '../../support/test-service.js';
import { createPlain, expectRefusal, hourMs, path, uniqueId } from '../routes/support.js';
import { limitedService, metric, statuses } from './support.js';

const exhausted = { status: 429, code: 'deduplication_misses_exhausted' };
const masked = (service: TestService) =>
  service.application([rule('/', 'mask', ['token:create', 'token:read', 'token:update'])]);
const guess = (service: TestService, key: string, data: string, address?: string) =>
  service.call(
    'POST',
    '/tokens',
    { type: 'card_number', data, deduplicate_token: true },
    address === undefined ? { key } : { key, address },
  );

/** Yields every valid 16-digit card number that begins with `bin` and ends with `lastFour`. */
function* candidates(bin: string, lastFour: string): Generator<string> {
  for (let middle = 0; ; middle += 1) {
    const number = `${bin}${String(middle).padStart(6, '0')}${lastFour}`;
    const sum = [...number].reverse().reduce((total, digit, index) => {
      const doubled = index % 2 === 1 ? Number(digit) * 2 : Number(digit);
      return total + (doubled > 9 ? doubled - 9 : doubled);
    }, 0);
    if (sum % 10 === 0) yield number;
  }
}

test('a card number cannot be found by deduplication: the misses of an application have a budget, whatever their addresses', async () => {
  const service = await limitedService({ requests: 1_000_000, deduplicationMisses: 40 });
  const key = await masked(service);
  const numbers = candidates('424242', '4242');
  const next = () => String(numbers.next().value);
  const answers: number[] = [];
  for (let tried = 0; tried < 60; tried += 1) {
    answers.push((await guess(service, key, next(), `10.0.0.${tried}`)).status);
  }
  expect(answers.filter((status) => status === 201)).toHaveLength(40);
  const { headers } = await expectRefusal(service, () => guess(service, key, next()), exhausted);
  expect(headers['retry-after']).toBe('3600');
  // A create request without deduplication reveals nothing, so it is not charged to the budget.
  expect((await service.call('POST', '/tokens', { type: 'token', data: 1 }, { key })).status).toBe(201);
  service.clock.advance(hourMs);
  expect((await guess(service, key, next())).status).toBe(201);
});

test('a create with an invalid id is not charged, because nothing is looked up', async () => {
  const service = await limitedService({ requests: 1_000, deduplicationMisses: 3 });
  const key = await masked(service);
  const data = '4242424242424242';
  const body = { id: `n${data}`, type: 'card_number', data, deduplicate_token: true };
  expect(await statuses(4, () => service.call('POST', '/tokens', body, { key }))).toEqual([400, 400, 400, 400]);
  expect((await guess(service, key, data)).status).toBe(201);
});

test('64 concurrent creates do not exceed the budget', async () => {
  const service = await limitedService({ requests: 1_000_000, deduplicationMisses: 20 });
  const key = await masked(service);
  const numbers = candidates('424242', '4242');
  const sent = Array.from({ length: 64 }, () => guess(service, key, String(numbers.next().value)));
  const answers = (await Promise.all(sent)).map(({ status }) => status);
  expect(answers.filter((status) => status === 201)).toHaveLength(20);
  expect(answers.filter((status) => status === 429)).toHaveLength(44);
});

test('a hit is not a miss, but once the budget is used up, hits and misses are both rejected', async () => {
  const service = await limitedService({ requests: 1_000, deduplicationMisses: 3 });
  const key = await masked(service);
  const known = '4242424242424242';
  await createPlain(service, { type: 'card_number', data: known });
  expect(await statuses(10, () => guess(service, key, known))).toEqual(Array(10).fill(201));
  const numbers = candidates('555555', '4444');
  const next = () => String(numbers.next().value);
  expect(await statuses(3, () => guess(service, key, next()))).toEqual([201, 201, 201]);
  await expectRefusal(service, () => guess(service, key, known), exhausted);
  await expectRefusal(service, () => guess(service, key, next()), exhausted);
});

test('a tokenize is charged for its distinct values, and an update for its one value', async () => {
  const service = await limitedService({ requests: 1_000, deduplicationMisses: 5 });
  const key = await masked(service);
  const part = (data: string) => ({ type: 'token', data, deduplicate_token: true });
  const [a, b] = [uniqueId(), uniqueId()];
  const tokenized = await service.call('POST', '/tokenize', [part(a), part(a), part(b)], { key });
  expect(tokenized.status, tokenized.text).toBe(200);
  const own = await createPlain(service, { data: uniqueId() });
  const update = () => service.call('PATCH', path(own.id), { data: uniqueId(), deduplicate_token: true }, { key });
  expect(await statuses(3, update)).toEqual([200, 200, 200]);
  await expectRefusal(service, update, exhausted);
  const all = [part(uniqueId())];
  await expectRefusal(service, () => service.call('POST', '/tokenize', all, { key }), exhausted);
});

test('a caller that may read every value in plaintext has no budget for misses', async () => {
  const service = await limitedService({ requests: 1_000, deduplicationMisses: 1 });
  const plain = await service.application(['token:create', 'token:use']);
  for (const key of [service.key, plain]) {
    expect(await statuses(5, () => guess(service, key, '4242424242424242'))).toEqual(Array(5).fill(201));
    const distinct = () =>
      service.call('POST', '/tokens', { type: 'token', data: uniqueId(), deduplicate_token: true }, { key });
    expect(await statuses(5, distinct)).toEqual(Array(5).fill(201));
  }
});

test('an application that uses a tenth of its budget without a hit is reported in the access log, a metric and doctor', async () => {
  const service = await limitedService({ requests: 1_000, deduplicationMisses: 100 });
  const key = await masked(service);
  const { body: application } = await service.call('GET', '/applications/key', undefined, { key });
  const id = String(application['id']);
  const numbers = candidates('424242', '4242');
  const miss = () => guess(service, key, String(numbers.next().value));
  const named = async () => {
    const url = '/logs?entity_type=application&operation=read';
    const { body } = await service.call('GET', url, undefined, { key: service.managementKey });
    const entries = body['data'] as readonly { readonly message: string; readonly actor_id: string }[];
    const operated = { ...service.service, rotation: notAsked(), console: 'unknown' } as const;
    const { findings } = await diagnose.run(operated, { fix: false });
    return {
      log: entries.filter(({ message, actor_id }) => message.startsWith('suspect') && actor_id === id).length,
      metric: await metric(service, `strongroom_deduplication_suspects_total{application="${id}"}`),
      doctor: findings.some(
        ({ check, state, says }) => check === 'guessing' && state === 'problem' && says.includes(id),
      ),
    };
  };
  await statuses(10, miss);
  expect(await named()).toEqual({ log: 0, metric: Number.NaN, doctor: false });
  await statuses(5, miss);
  expect(await named()).toEqual({ log: 1, metric: 1, doctor: true });
  service.clock.advance(25 * hourMs);
  expect((await named()).doctor).toBe(false);
});

test('an application that has hits is not a suspect', async () => {
  const service = await limitedService({ requests: 1_000, deduplicationMisses: 100 });
  const key = await masked(service);
  const numbers = candidates('424242', '4242');
  await statuses(5, () => guess(service, key, String(numbers.next().value)));
  await guess(service, key, String(candidates('424242', '4242').next().value));
  await statuses(20, () => guess(service, key, String(numbers.next().value)));
  expect(await service.vault.budgets.suspects(0)).toEqual([]);
});

function notAsked(): never {
  return new Proxy({}, { get: () => () => Promise.reject(new Error('not part of this test')) }) as never;
}

test('decoys do not make guesses free: an update is charged even if another token has its value', async () => {
  const service = await limitedService({ requests: 1_000_000, deduplicationMisses: 5 });
  const key = await masked(service);
  const hidden = await createPlain(service, { type: 'card_number', data: '4242424242424242' });
  const numbers = candidates('424242', '4242');
  const update = async () => {
    const data = String(numbers.next().value);
    // If the guess is wrong, the update finds the decoy's value, so the hidden token does not change.
    await service.call('POST', '/tokens', { type: 'card_number', data, deduplicate_token: false }, { key });
    return service.call('PATCH', path(hidden.id), { data, deduplicate_token: true }, { key });
  };
  expect(await statuses(6, update)).toEqual([200, 200, 200, 200, 200, 429]);
});

test('decoys do not reveal whether an older token has the value, because a create finds the newest token', async () => {
  const service = await limitedService({ requests: 1_000_000, deduplicationMisses: 50 });
  const key = await masked(service);
  for (let tried = 0; tried < 20; tried += 1) {
    const data = uniqueId();
    await createPlain(service, { data });
    const decoy = { type: 'token', data, deduplicate_token: false };
    const { body } = await service.call('POST', '/tokens', decoy, { key });
    const met = await service.call('POST', '/tokens', { ...decoy, deduplicate_token: true }, { key });
    expect(met.body['id']).toBe(body['id']);
  }
});

test('decoys that were stored first do not make later lookups free, because a create that finds its own application’s decoy is a miss', async () => {
  const service = await limitedService({ requests: 1_000_000, deduplicationMisses: 20 });
  const key = await masked(service);
  const numbers = candidates('424242', '4242');
  const tried = Array.from({ length: 30 }, () => String(numbers.next().value));
  // These create requests are not charged, because without deduplication they do not look up a value.
  const decoy = (data: string) =>
    service.call('POST', '/tokens', { type: 'card_number', data, deduplicate_token: false }, { key });
  const decoys = await Promise.all(tried.map(decoy));
  expect(decoys.map(({ status }) => status)).toEqual(Array(30).fill(201));
  const hidden = await createPlain(service, { type: 'card_number', data: tried[25] });
  const answers: Awaited<ReturnType<typeof guess>>[] = [];
  for (const data of tried) answers.push(await guess(service, key, data));
  expect(answers.map(({ status }) => status)).toEqual([...Array(20).fill(201), ...Array(10).fill(429)]);
  expect(answers.map(({ text }) => text).join()).not.toContain(hidden.id);
  // The application is not reported as a suspect. An application that creates its own values a second time would look
  // the same.
  expect(await service.vault.budgets.suspects(0)).toEqual([]);
});

test('a value that the application itself planted in a foreign token by an update is also a miss', async () => {
  const service = await limitedService({ requests: 1_000_000, deduplicationMisses: 3 });
  const key = await masked(service);
  const foreign = await createPlain(service, { data: uniqueId() });
  const planted = uniqueId();
  const patched = await service.call('PATCH', path(foreign.id), { data: planted, deduplicate_token: false }, { key });
  expect(patched.status, patched.text).toBe(200);
  const again = () =>
    service.call('POST', '/tokens', { type: 'token', data: planted, deduplicate_token: true }, { key });
  expect(await statuses(4, again)).toEqual([201, 201, 201, 429]);
});

test('if another application’s create finds a decoy, the decoy’s owner learns nothing about it', async () => {
  const service = await limitedService({ requests: 1_000_000, guesses: 5, deduplicationMisses: 5 });
  const key = await service.application([rule('/', 'mask', ['token:create', 'token:read', 'token:search'])]);
  const hidden = '4242424242424242';
  const decoyOf = async (data: string) => {
    const body = { type: 'card_number', data, deduplicate_token: false };
    const created = await service.call('POST', '/tokens', body, { key });
    expect(created.status, created.text).toBe(201);
    return String(created.body['id']);
  };
  const numbers = candidates('555555', '4444');
  const [right, wrong] = [await decoyOf(hidden), await decoyOf(String(numbers.next().value))];
  // Returns all information about a token that its owner can request without looking up the token's value.
  const seen = async (id: string) => {
    const asked = [
      await service.call('GET', path(id), undefined, { key }),
      await service.call('GET', `${path(id)}/history`, undefined, { key }),
      await service.call('GET', `/tokens?id=${id}`, undefined, { key }),
      await service.call('GET', '/v2/tokens?size=100', undefined, { key }),
      await service.call('POST', '/tokens/search', { query: `id:${id}` }, { key }),
      await service.call('POST', '/tokens/search', { query: 'type:card_number' }, { key }),
    ];
    return asked.map(({ status, headers, text }) => ({ status, etag: headers['etag'], text }));
  };
  const before = [await seen(right), await seen(wrong)];
  const met = await service.call('POST', '/tokens', { type: 'card_number', data: hidden, deduplicate_token: true });
  expect(met.body).toMatchObject({ id: right, _extras: { deduplicated: true } });
  expect([await seen(right), await seen(wrong)]).toEqual(before);
});
