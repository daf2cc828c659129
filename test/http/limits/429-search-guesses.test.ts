import { expect, test } from 'vitest';
import { rule, type TestService } from '../../support/test-service.js';
import { createPlain, expectRefusal, hourMs, uniqueId } from '../routes/support.js';
import { limitedService, metric } from './support.js';

const exhausted = { status: 429, code: 'guesses_exhausted' };
const search = (service: TestService, query: string, key: string) =>
  service.call('POST', '/tokens/search', { query }, { key });
const guesses = (service: TestService) => metric(service, 'strongroom_guesses_total{budget="guesses"}');
const masked = (service: TestService) =>
  service.application([rule('/', 'mask', ['token:create', 'token:read', 'token:search', 'token:delete'])]);
const logged = async (service: TestService, entity: string) => {
  const url = `/logs?entity_type=${entity}&operation=read`;
  const { body } = await service.call('GET', url, undefined, { key: service.managementKey });
  return body['data'] as readonly { readonly message: string; readonly outcome: string }[];
};

test('decoys: a caller below reveal is charged for each value that it looks up, although every value is found', async () => {
  const service = await limitedService({ requests: 1_000_000, guesses: 30 });
  const key = await masked(service);
  const candidates = Array.from({ length: 64 }, (_, i) => `900-00-${1000 + i}`);
  const decoys = candidates.map((candidate) => ({ type: 'token', data: 'decoy', search_indexes: [candidate] }));
  expect((await service.call('POST', '/tokenize', decoys, { key })).status).toBe(200);
  const answers: number[] = [];
  for (const candidate of candidates) answers.push((await search(service, `data:${candidate}`, key)).status);
  expect(answers.filter((status) => status === 200)).toHaveLength(30);
  expect(answers.slice(30).every((status) => status === 429)).toBe(true);
});

test('64 concurrent searches do not exceed the budget', async () => {
  const service = await limitedService({ requests: 1_000_000, guesses: 30 });
  const key = await masked(service);
  const sent = Array.from({ length: 64 }, (_, i) => search(service, `data:candidate-${i}`, key));
  const answers = (await Promise.all(sent)).map(({ status }) => status);
  expect(answers.filter((status) => status === 200)).toHaveLength(30);
  expect(answers.filter((status) => status === 429)).toHaveLength(34);
});

test('terms with data: and fingerprint: are guesses, even if they find a token, and are rejected above the budget', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 4 });
  const key = await masked(service);
  const value = uniqueId();
  const found = await createPlain(service, { data: value, search_indexes: ['{{ data }}'] });
  expect((await search(service, `data:${value}`, key)).body).toMatchObject({ pagination: { total_items: 1 } });
  expect((await search(service, `fingerprint:${found['fingerprint']}`, key)).status).toBe(200);
  await search(service, 'data:unknown-1', key);
  await search(service, 'fingerprint:unknown-2', key);
  expect(await guesses(service)).toBe(4);
  const { headers } = await expectRefusal(service, () => search(service, `data:${value}`, key), exhausted);
  expect(headers['retry-after']).toBe('3600');
  expect((await search(service, 'type:token', key)).status).toBe(200);
  service.clock.advance(hourMs);
  expect((await search(service, `data:${value}`, key)).status).toBe(200);
});

test('no other term, negation or parenthesis hides a guess, and a value that occurs twice in a query counts once', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 100 });
  const key = await masked(service);
  await createPlain(service);
  await search(service, 'data:unknown-1 OR type:token', key);
  expect(await guesses(service)).toBe(1);
  await search(service, 'type:token NOT data:unknown-1', key);
  expect(await guesses(service)).toBe(2);
  await search(service, '(type:token AND -(data:a1 OR data:a2)) OR data:a1', key);
  expect(await guesses(service)).toBe(4);
  // A search ignores the case of data, but not the case of a fingerprint.
  await search(service, 'data:v1 OR data:V1 OR data:"\uff561"', key);
  expect(await guesses(service)).toBe(5);
  await search(service, 'fingerprint:v1 OR fingerprint:V1', key);
  expect(await guesses(service)).toBe(7);
});

test('a search by a caller that may read every value that it may search is never a guess', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 1 });
  const useEverything = ['token:search', 'token:use'] as const;
  const inOwn = [rule('/own/', 'mask', ['token:search']), rule('/', 'reveal', ['token:read'], 2)];
  const keys = [
    await service.application(useEverything),
    await service.application([rule('/', 'reveal', ['token:search'])]),
    await service.application(inOwn),
  ];
  for (const key of keys) {
    for (let times = 0; times < 3; times += 1) {
      expect((await search(service, `data:unknown-${times}`, key)).status).toBe(200);
    }
  }
  expect(await guesses(service)).toBe(0);
});

test('a caller with reveal on only some containers is charged in the other containers', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 1 });
  const accesses = [
    [rule('/own/', 'reveal', ['token:search', 'token:read']), rule('/', 'mask', ['token:search', 'token:read'], 2)],
    [rule('/secret/', 'mask', ['token:search', 'token:read']), rule('/', 'reveal', ['token:search', 'token:read'], 2)],
  ];
  for (const access of accesses) {
    const key = await service.application(access);
    expect((await search(service, 'data:unknown-1 AND container:/own/*', key)).status).toBe(200);
    await expectRefusal(service, () => search(service, 'data:unknown-2 AND container:/own/*', key), exhausted);
  }
});

test('a page of a list filtered by fingerprint is a guess, and a list that finds nothing is recorded', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 2 });
  const key = await service.application([rule('/', 'mask', ['token:read'])]);
  const { fingerprint } = await createPlain(service, { data: uniqueId() });
  const list = (filters: string, as: string) => service.call('GET', `/v2/tokens?${filters}`, undefined, { key: as });
  expect((await list(`fingerprint=${fingerprint}`, key)).body['data']).toHaveLength(1);
  expect((await list('fingerprint=unknown', key)).body['data']).toHaveLength(0);
  await expectRefusal(service, () => list(`fingerprint=${fingerprint}`, key), exhausted);
  expect((await list(`fingerprint=${fingerprint}`, service.key)).status).toBe(200);
  expect(await guesses(service)).toBe(2);
  const searchesElsewhere = await service.application([
    rule('/', 'mask', ['token:read']),
    rule('/other/', 'mask', ['token:search']),
  ]);
  expect((await list(`type=token&fingerprint=${fingerprint}`, searchesElsewhere)).body['data']).toHaveLength(1);
  const entries = (await logged(service, 'token')).filter(({ message }) => message.includes('by value'));
  expect(entries.map(({ message }) => message)).toEqual(['search by value: 1 of 1 value found nothing']);
});

test('a deletion by query counts its guesses as a search does, and deletes nothing once the budget is used up', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 1 });
  const key = await masked(service);
  const value = uniqueId();
  await createPlain(service, { data: value, search_indexes: ['{{ data }}'] });
  const remove = (query: string) => service.call('POST', '/tokens/delete', { query }, { key });
  expect((await remove('data:unknown-1')).body).toEqual({ deleted: 0, refused: 0, remaining: 0 });
  expect(await guesses(service)).toBe(1);
  await expectRefusal(service, () => remove(`data:${value}`), exhausted);
});

test('each unknown id in a bulk delete is a guess; above the budget, nothing is deleted, and even known ids are rejected', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 10 });
  const remove = (ids: readonly string[]) => service.call('POST', '/tokens/delete', { ids });
  const [one, other] = [await createPlain(service), await createPlain(service)];
  const expired = await createPlain(service, { expires_at: new Date(service.clock.now() + 1_000).toISOString() });
  service.clock.advance(1_000);
  const unknown = [expired.id, ...Array.from({ length: 5 }, () => uniqueId())];
  expect((await remove([...unknown, one.id, one.id])).body).toEqual({ deleted: 1, refused: 0, remaining: 0 });
  expect(await guesses(service)).toBe(6);
  await expectRefusal(service, () => remove([...unknown, other.id]), exhausted);
  await expectRefusal(service, () => remove([other.id]), exhausted);
  service.clock.advance(hourMs);
  expect((await remove([other.id])).body).toMatchObject({ deleted: 1 });
});

test('the access log records a search by value that found nothing, even with other terms, but never the value', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 100 });
  const key = await masked(service);
  const value = uniqueId();
  await createPlain(service, { data: value, search_indexes: ['{{ data }}'] });
  await search(service, `data:${value}`, key);
  await search(service, 'data:secret-1', key);
  await search(service, `data:secret-2 OR data:${value}`, key);
  await search(service, 'data:secret-3', service.key);
  const remove = (query: string, as: string) => service.call('POST', '/tokens/delete', { query }, { key: as });
  const keeper = await service.application([
    rule('/', 'mask', ['token:search']),
    rule('/other/', 'mask', ['token:delete']),
  ]);
  expect((await remove(`data:${value}`, keeper)).body).toEqual({ deleted: 0, refused: 1, remaining: 0 });
  expect((await remove('data:secret-4 OR data:secret-5', key)).status).toBe(200);
  const entries = (await logged(service, 'token')).filter(({ message }) => message.includes('by value'));
  expect(entries.map(({ message }) => message)).toEqual([
    'search by value: 2 of 2 values found nothing',
    'search by value: 1 of 1 value found nothing',
    'search by value: 1 of 2 values found nothing',
    'search by value: 1 of 1 value found nothing',
  ]);
  expect(JSON.stringify(entries)).not.toContain('secret');
});

test('the access log records only once that an application has used up its guesses', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 2 });
  const key = await masked(service);
  for (let times = 0; times < 5; times += 1) await search(service, `data:unknown-${times}`, key);
  const refused = (await logged(service, 'application')).filter(({ message }) => message.includes('guesses'));
  expect(refused).toEqual([
    expect.objectContaining({ outcome: 'denied', message: 'rejected: the guesses for this hour are used up' }),
  ]);
});
