import { expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { limitedService } from '../../limits/support.js';
import { createPlain, expectRefusal, test, uniqueId } from '../support.js';

test('a page with large tokens is short, and its cursor leads to the others', async ({ service }) => {
  const group = uniqueId('group');
  const made: string[] = [];
  for (let i = 0; i < 5; i += 1) {
    made.unshift((await createPlain(service, { data: `${i}`.repeat(200_000), metadata: { group } })).id);
  }
  const met: string[] = [];
  const pages: number[] = [];
  for (let next: string | null = '', page = 0; next !== null; page += 1) {
    const start: string = page === 0 ? '' : `&start=${next}`;
    const { body } = await service.call('GET', `/v2/tokens?metadata.group=${group}&size=5${start}`);
    const ids = (body['data'] as readonly { readonly id: string }[]).map(({ id }) => id);
    met.push(...ids);
    pages.push(ids.length);
    next = (body['pagination'] as { readonly next: string | null }).next;
  }
  expect(met).toEqual(made);
  expect(pages).toEqual([2, 2, 1]);
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
