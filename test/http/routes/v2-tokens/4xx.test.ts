import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { createPlain, expectRefusal, test, uniqueId } from '../support.js';

describe('GET /v2/tokens and POST /v2/tokens/search', () => {
  test.for([
    'size=0',
    'size=101',
    'size=x',
    'container=pci',
    'container=/pci',
    'metadata=[]',
    'type=card&type=bank',
    'start=',
    'start=a&start=b',
  ])('400 %s', async (query, { service }) => {
    const { status, body } = await service.call('GET', `/v2/tokens?${query}`);
    expect([status, body['code']]).toEqual([400, 'validation_failed']);
  });

  test.for<[object]>([
    [{ size: 0 }],
    [{ size: '1' }],
    [{ start: 7 }],
    [{ start: '' }],
    [{ query: 7 }],
    [{ query: '(' }],
  ])('400 %j', async ([body], { service }) => {
    const answer = await service.call('POST', '/v2/tokens/search', body);
    expect([answer.status, answer.body['code']]).toEqual([400, 'validation_failed']);
  });

  test('401 without a key, 403 with the permission of the other route', async ({ service }) => {
    const [reads, searches] = [await service.application(['token:read']), await service.application(['token:search'])];
    const list = (key: string | null) => service.call('GET', '/v2/tokens', undefined, { key });
    const search = (key: string | null) => service.call('POST', '/v2/tokens/search', {}, { key });
    await expectRefusal(service, () => list(null), { status: 401, code: 'unauthenticated' });
    await expectRefusal(service, () => search(null), { status: 401, code: 'unauthenticated' });
    await expectRefusal(service, () => list(searches), { status: 403, code: 'permission_missing' });
    await expectRefusal(service, () => search(reads), { status: 403, code: 'permission_missing' });
  });

  test('400 a cursor of another application or tenant', async ({ service }) => {
    const group = uniqueId('group');
    for (let i = 0; i < 2; i += 1) await createPlain(service, { metadata: { group } });
    const list = (start: string, key = service.key) =>
      service.call('GET', `/v2/tokens?metadata.group=${group}&size=1${start}`, undefined, { key });
    const { next } = (await list('')).body['pagination'] as { readonly next: string };
    const start = `&start=${next}`;
    for (const key of [await service.application(['token:read']), await service.otherTenant()]) {
      expect((await list(start, key)).status).toBe(400);
    }
    expect((await list(start)).status).toBe(200);
  });

  test('tokens outside of the rules are on no page, and leave no cursor', async ({ service }) => {
    const group = uniqueId('group');
    const seen = await createPlain(service, { metadata: { group }, containers: ['/seen/'] });
    for (let i = 0; i < 3; i += 1) await createPlain(service, { metadata: { group }, containers: ['/hidden/'] });
    const key = await service.application([rule('/seen/', 'mask', ['token:read'])]);
    const { body } = await service.call('GET', `/v2/tokens?metadata.group=${group}&size=1`, undefined, { key });
    expect(body['pagination']).toEqual({ page_size: 1, next: null });
    expect((body['data'] as readonly { readonly id: string }[]).map(({ id }) => id)).toEqual([seen.id]);
    const other = await service.call('GET', `/v2/tokens?metadata.group=${group}&container=/hidden/`, undefined, {
      key,
    });
    expect(other.body['data']).toEqual([]);
  });
});
