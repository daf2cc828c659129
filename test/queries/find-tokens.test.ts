import { expect, test } from 'vitest';
import { findTokens, findTokensBefore } from '#src/queries/find-tokens.js';
import { startTestService } from '../support/test-service.js';

test('the rest of a page leaves out a token whose id was used again, because the search did not find the new token', async () => {
  const service = await startTestService();
  const data = 'x'.repeat(300 * 1024);
  const create = async (id: string) =>
    expect((await service.call('POST', '/tokens', { type: 'token', id, data, metadata: { a: 'b' } })).status).toBe(201);
  for (const id of ['reused', 'second', 'first']) await create(id);
  const caller = await service.service.authenticate(service.key);
  if (caller === null) throw new Error('the key is valid');
  const query = { kind: 'metadata', key: 'a', value: 'b' } as const;
  const found = await findTokens(service.vault, { caller }, 'token:search', query, { offset: 0, limit: 3 });
  const step = await findTokensBefore(service.vault, { caller }, 'token:search', query, { before: null, limit: 3 });
  expect((await service.call('DELETE', '/tokens/reused')).status).toBe(204);
  expect((await service.call('POST', '/tokens', { type: 'token', id: 'reused', data: 'new' })).status).toBe(201);
  for (const { tokens, rest } of [found, step]) {
    const later = [];
    for await (const token of rest?.() ?? []) later.push(token);
    expect([tokens.length, later.length]).toEqual([1, 1]);
  }
  await service.close();
});

test('a token that expires between the search and its decryption is neither shown nor counted', async () => {
  const service = await startTestService();
  const { vault, clock } = service;
  const expires = new Date(clock.now() + 60_000).toISOString();
  for (const expires_at of [null, expires])
    expect((await service.call('POST', '/tokens', { type: 'token', data: 'x', expires_at })).status).toBe(201);
  const caller = await service.service.authenticate(service.key);
  if (caller === null) throw new Error('the key is valid');
  const search: typeof vault.rows.search = async (...given) => {
    const found = await vault.rows.search(...given);
    clock.advance(60_000);
    return found;
  };
  const slow = { ...vault, rows: { ...vault.rows, search } };
  const { tokens, total } = await findTokens(
    slow,
    { caller },
    'token:search',
    { kind: 'everything' },
    { offset: 0, limit: 9 },
  );
  expect([tokens.length, total]).toEqual([1, 1]);
  await service.close();
});
