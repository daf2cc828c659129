import { expect, test } from 'vitest';
import { rule, type TestService } from '../../support/test-service.js';
import { createPlain, expectRefusal, uniqueId } from '../routes/support.js';
import { limitedService, metric } from './support.js';

const exhausted = { status: 429, code: 'guesses_exhausted' };
const search = (service: TestService, query: string, key = service.key) =>
  service.call('POST', '/tokens/search', { query }, { key });
const guesses = (service: TestService) => metric(service, 'strongroom_guesses_total');

test('a data: or fingerprint: term that finds nothing is a guess; over the budget such searches are refused', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 3 });
  const value = uniqueId();
  const found = await createPlain(service, { data: value, search_indexes: ['{{ data }}'] });
  expect((await search(service, `data:${value}`)).body).toMatchObject({ pagination: { total_items: 1 } });
  expect((await search(service, `fingerprint:${found['fingerprint']}`)).status).toBe(200);
  expect(await guesses(service)).toBe(0);
  await search(service, 'data:unknown-1');
  await search(service, 'fingerprint:unknown-2');
  expect(await guesses(service)).toBe(2);
  await search(service, 'data:unknown-3');
  // A right guess is refused like a wrong one.
  await expectRefusal(service, () => search(service, `data:${value}`), exhausted);
  expect((await search(service, 'type:token')).status).toBe(200);
});

test('nothing beside it hides a guess: not another term, a negation, a repeat or a bracket', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 100 });
  await createPlain(service);
  await search(service, 'data:unknown-1 OR type:token');
  expect(await guesses(service)).toBe(1);
  await search(service, 'type:token NOT data:unknown-1');
  expect(await guesses(service)).toBe(2);
  await search(service, '(type:token AND -(data:a1 OR data:a2)) OR data:a1');
  expect(await guesses(service)).toBe(4);
});

test('a value that only others may see is a guess, as one that nobody has', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 100 });
  const value = uniqueId();
  await createPlain(service, { data: value, search_indexes: ['{{ data }}'], containers: ['/secret/'] });
  const key = await service.application([rule('/own/', 'mask', ['token:search'])]);
  await search(service, `data:${value}`, key);
  expect(await guesses(service)).toBe(1);
});

test('a deletion by query guesses as a search does, and deletes nothing when the budget is used up', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 1 });
  const value = uniqueId();
  await createPlain(service, { data: value, search_indexes: ['{{ data }}'] });
  const remove = (query: string) => service.call('POST', '/tokens/delete', { query });
  expect((await remove('data:unknown-1')).body).toEqual({ deleted: 0, refused: 0, remaining: 0 });
  expect(await guesses(service)).toBe(1);
  await expectRefusal(service, () => remove(`data:${value}`), exhausted);
});

test('a value that is found and deleted is no guess', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 1 });
  const value = uniqueId();
  await createPlain(service, { data: value, search_indexes: ['{{ data }}'] });
  expect((await service.call('POST', '/tokens/delete', { query: `data:${value}` })).body).toMatchObject({ deleted: 1 });
  expect(await guesses(service)).toBe(0);
});

test('the access log says once that the guesses of an application are used up', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 2 });
  for (let times = 0; times < 4; times += 1) await search(service, `data:unknown-${times}`);
  const { body } = await service.call('GET', '/logs?entity_type=application&operation=read', undefined, {
    key: service.managementKey,
  });
  const refused = (body['data'] as { message: string }[]).filter(({ message }) => message.includes('guesses'));
  expect(refused).toEqual([
    expect.objectContaining({ outcome: 'denied', message: 'refused: the guesses of this hour are used up' }),
  ]);
});
