import { expect, test } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { rule } from '../../support/test-service.js';
import { operationsOn } from '../routes/list-logs/support.js';
import { create, expectRefusal, invalid, path, read } from '../routes/support.js';
import { limitedService, metric } from './support.js';

const exhausted = { status: 429, code: 'guesses_exhausted' };
const contentBytesMax = 512 * 1024;
/** A value that does not fit together with any other data. */
const full = 'x'.repeat(contentBytesMax - 200);
/** More members than fit together with another one. */
const members: JsonObject = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 0]));
const hidden = { diagnosis: 'B20', note: 'n'.repeat(200) };

async function hiddenToken(guesses: number) {
  const service = await limitedService({ requests: 100_000, guesses });
  const { id } = await create(service, {
    type: 'token',
    data: hidden,
    search_indexes: ['{{ data.diagnosis }}{{ data.index }}'],
  });
  const key = await service.application(['token:update'], 'public');
  const update = (patch: object, as = key) => service.call('PATCH', path(id), patch, { key: as });
  return { service, id, update };
}

test('a patch that always fails does not show whether it would fit with the hidden data', async () => {
  const { service, id, update } = await hiddenToken(1);
  for (const data of [{ p: full }, members, { p: 1 }]) {
    await expectRefusal(service, () => update({ id: 'nope', data }), invalid('id'));
    await expectRefusal(service, () => update({ type: 'card', data }), invalid('type'));
    await expectRefusal(service, () => update({ metadata: { a: 1 }, data }), invalid('metadata.a'));
  }
  expect(await metric(service, 'strongroom_guesses_total{budget="guesses"}')).toBe(0);
  expect(await operationsOn(service, id)).toEqual(['create']);
});

test.for([
  ['too large', { p: full }, 'data'],
  ['too many members', members, 'data'],
  ['an index that is too long', { index: 'x'.repeat(498) }, 'search_indexes[0]'],
] as const)('a patch that fails because of hidden data is a guess and is recorded: %s', async ([, data, field]) => {
  const { service, id, update } = await hiddenToken(2);
  for (let times = 0; times < 2; times += 1) await expectRefusal(service, () => update({ data }), invalid(field));
  expect(await metric(service, 'strongroom_guesses_total{budget="guesses"}')).toBe(2);
  const recorded = ['create', 'update denied', 'update denied'];
  expect(await operationsOn(service, id)).toEqual(recorded);
  await expectRefusal(service, () => update({ data }), exhausted);
  // A patch that fits either changes the token, or is rejected in the same way as a patch that does not.
  const patches = [
    { data, deduplicate_token: true },
    { data: { p: 1 }, deduplicate_token: true },
    { data: { p: 1 }, containers: ['/other/'], metadata: { a: 'b', c: null }, deduplicate_token: true },
  ];
  for (const patch of patches) await expectRefusal(service, () => update(patch), exhausted);
  expect(await operationsOn(service, id)).toEqual(recorded);
  expect((await update({ data: { p: 1 } })).status).toBe(200);
  expect((await read(service, id))['data']).toEqual({ ...hidden, p: 1 });
});

test('a patch that is invalid for another reason is a guess as well, because it shows that the size is allowed', async () => {
  const service = await limitedService({ requests: 100_000, guesses: 1 });
  const { id } = await create(service, { type: 'card', data: { number: '4242424242424242', note: hidden.note } });
  const key = await service.application(['token:update'], 'public');
  const update = (data: object) => () => service.call('PATCH', path(id), { data }, { key });
  const wrong = { number: 'not a number' };
  await expectRefusal(service, update(wrong), invalid('data.number'));
  expect(await operationsOn(service, id)).toEqual(['create', 'update denied']);
  await expectRefusal(service, update({ ...wrong, p: full }), exhausted);
  await expectRefusal(service, update(wrong), exhausted);
});

test('a caller that sees the data, or replaces it, is told of its errors without a guess', async () => {
  const { service, id, update } = await hiddenToken(1);
  const seeing = [
    service.key,
    await service.application(['token:update', 'token:use']),
    await service.application([rule('/', 'reveal', ['token:update'])]),
  ];
  for (const key of seeing) await expectRefusal(service, () => update({ data: { p: full } }, key), invalid('data'));
  await expectRefusal(service, () => update({ data: 'x' }), invalid('search_indexes[0]'));
  expect(await metric(service, 'strongroom_guesses_total{budget="guesses"}')).toBe(0);
  expect(await operationsOn(service, id)).toEqual(['create']);
});
