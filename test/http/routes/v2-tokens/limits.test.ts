import { expect } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { rule, startTestService } from '../../../support/test-service.js';
import { limitedService } from '../../limits/support.js';
import { create, createPlain, expectRefusal, test, uniqueId } from '../support.js';

test('a page with large tokens is as long as any other, and its cursor leads to the others', async ({ service }) => {
  const group = uniqueId('group');
  const made: string[] = [];
  for (let i = 0; i < 5; i += 1) {
    made.unshift((await createPlain(service, { data: `${i}`.repeat(200_000), metadata: { group } })).id);
  }
  const met: string[] = [];
  const pages: number[] = [];
  for (let next: string | null = '', page = 0; next !== null; page += 1) {
    const start: string = page === 0 ? '' : `&start=${next}`;
    const { body } = await service.call('GET', `/v2/tokens?metadata.group=${group}&size=4${start}`);
    const ids = (body['data'] as readonly { readonly id: string }[]).map(({ id }) => id);
    met.push(...ids);
    pages.push(ids.length);
    next = (body['pagination'] as { readonly next: string | null }).next;
  }
  expect(met).toEqual(made);
  expect(pages).toEqual([4, 1]);
});

test.each(['/tokens', '/v2/tokens'])(
  '%s: neither length nor encoding of a page shows how large redacted data is',
  async (path) => {
    const service = await startTestService();
    try {
      const key = await service.application([rule('/', 'redact', ['token:create', 'token:read'])]);
      const { id: hidden } = await createPlain(service, { data: 'x' });
      // An attacker's token, which fills up the memory for the first tokens of a page.
      await create(service, { type: 'token', data: 'p'.repeat(400_000) }, { key });
      const list = async () => {
        const { headers, body } = await service.call('GET', `${path}?size=2`, undefined, { key });
        const { 'content-length': length, 'transfer-encoding': encoding } = headers;
        return { tokens: (body['data'] as readonly unknown[]).length, length: length !== undefined, encoding };
      };
      const small = await list();
      expect(small).toEqual({ tokens: 2, length: true, encoding: undefined });
      expect((await service.call('PATCH', `/tokens/${hidden}`, { data: 'x'.repeat(400_000) })).status).toBe(200);
      expect(await list()).toEqual(small);
    } finally {
      await service.close();
    }
  },
);

test.each([
  { shown: 'less than one part', size: 100_000, mask: 'a mask', length: true },
  { shown: 'several parts', size: 100_000, mask: 'm'.repeat(3_900), length: false },
])('a page of many large tokens is complete if it shows $shown', async ({ size, mask, length }) => {
  const service = await startTestService();
  try {
    const key = await service.application([rule('/', 'mask', ['token:read', 'token:search'])]);
    const made: string[] = [];
    // A character of three bytes is cut if the text is divided carelessly.
    const metadata = { text: '…'.repeat(333) };
    for (let i = 0; i < 12; i += 1) {
      const { id } = await create(service, { type: 'token', data: 'x'.repeat(size), mask, metadata });
      made.unshift(id);
    }
    for (const path of ['/tokens?size=100', '/v2/tokens?size=100']) {
      const { headers, body } = await service.call('GET', path, undefined, { key });
      const data = body['data'] as readonly JsonObject[];
      expect(data.map(({ id }) => id)).toEqual(made);
      expect(data).toEqual(made.map(() => expect.objectContaining({ data: mask, metadata })));
      expect(headers['content-length'] !== undefined).toBe(length);
    }
  } finally {
    await service.close();
  }
});

test('429: for a caller that may not read values, a fingerprint filter and a search by value count as guesses', async () => {
  const service = await limitedService({ requests: 1_000, guesses: 2 });
  const key = await service.application([rule('/', 'mask', ['token:read', 'token:search'])]);
  const list = (fingerprint: string) => () =>
    service.call('GET', `/v2/tokens?fingerprint=${fingerprint}`, undefined, { key });
  const search = () => service.call('POST', '/v2/tokens/search', { query: `data:${uniqueId()}` }, { key });
  expect((await list('unknown')()).status).toBe(200);
  expect((await search()).status).toBe(200);
  const exhausted = { status: 429, code: 'guesses_exhausted' };
  await expectRefusal(service, list('other'), exhausted);
  await expectRefusal(service, search, exhausted);
});
