import { expect } from 'vitest';
import { createPlain, path, test, uniqueId } from '../support.js';
import { list, search } from './support.js';

const search_indexes = ['{{ data }}'];

test('a value with a lone surrogate is neither found nor deleted by a query for a different value', async ({
  service,
}) => {
  const end = uniqueId('end');
  const high = await createPlain(service, { data: `\ud801${end}`, search_indexes });
  const low = await createPlain(service, { data: `\udfff${end}`, search_indexes });
  const literal = await createPlain(service, { data: `\ufffd${end}`, search_indexes });
  const escaped = await createPlain(service, { data: JSON.stringify(`\ud801${end}`), search_indexes });
  const query = `data:"\ufffd${end}"`;
  expect((await search(service, query)).ids).toEqual([literal.id]);
  expect((await search(service, `data:"\\"\\\\ud801${end}\\""`)).ids).toEqual([escaped.id]);
  const { body } = await service.call('POST', '/tokens/delete', { query });
  expect(body).toEqual({ deleted: 1, refused: 0, remaining: 0 });
  for (const { id } of [high, low]) expect((await service.call('GET', path(id))).status).toBe(200);
  expect((await service.call('GET', path(literal.id))).status).toBe(404);
});

test('a list filter with a lone surrogate does not match a different metadata value', async ({ service }) => {
  const end = uniqueId('end');
  const { id } = await createPlain(service, { metadata: { group: `\ufffd${end}` } });
  const filter = (value: string) => `?metadata=${encodeURIComponent(`{"group":"${value}${end}"}`)}`;
  expect((await list(service, filter('\ufffd'))).ids).toEqual([id]);
  expect((await list(service, filter('\\ud801'))).ids).toEqual([]);
});

test('an id with a lone surrogate in a request names no token', async ({ service }) => {
  const end = uniqueId('end');
  const id = `\ufffd${end}`;
  await createPlain(service, { id });
  const { body } = await service.call('POST', '/tokens/delete', { ids: [`\ud801${end}`] });
  expect(body).toEqual({ deleted: 0, refused: 0, remaining: 0 });
  expect((await service.call('POST', '/detokenize', [`{{ \ud801${end} }}`])).status).toBe(400);
  expect((await service.call('GET', path(id))).status).toBe(200);
});
