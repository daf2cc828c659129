import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { limitedService } from '../../limits/support.js';
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
  ])('400 for %s', async (query, { service }) => {
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
  ])('400 for %j', async ([body], { service }) => {
    const answer = await service.call('POST', '/v2/tokens/search', body);
    expect([answer.status, answer.body['code']]).toEqual([400, 'validation_failed']);
  });

  test('401 without a key, and 403 with the permission for the other route', async ({ service }) => {
    const [reads, searches] = [await service.application(['token:read']), await service.application(['token:search'])];
    const list = (key: string | null) => service.call('GET', '/v2/tokens', undefined, { key });
    const search = (key: string | null) => service.call('POST', '/v2/tokens/search', {}, { key });
    await expectRefusal(service, () => list(null), { status: 401, code: 'unauthenticated' });
    await expectRefusal(service, () => search(null), { status: 401, code: 'unauthenticated' });
    await expectRefusal(service, () => list(searches), { status: 403, code: 'permission_missing' });
    await expectRefusal(service, () => search(reads), { status: 403, code: 'permission_missing' });
  });

  test('400 for a cursor that belongs to another application or tenant', async ({ service }) => {
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

  test('tokens outside the rules are on no page, and do not lead to another page', async ({ service }) => {
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

  test('an earlier cursor shows nothing that narrower rules hide, and nothing to a deleted key', async ({
    service,
  }) => {
    const group = uniqueId('group');
    const hidden = await createPlain(service, { metadata: { group }, containers: ['/hidden/'] });
    const shown = await createPlain(service, { metadata: { group }, containers: ['/shown/'] });
    const newest = await createPlain(service, { metadata: { group }, containers: ['/shown/'] });
    const manage = (method: 'GET' | 'PUT' | 'DELETE', url: string, body?: object) =>
      service.call(method, url, body, { key: service.managementKey });
    const key = await service.application([rule('/', 'reveal', ['token:read', 'token:search'])]);
    const id = String((await service.call('GET', '/applications/key', undefined, { key })).body['id']);
    const requests = [
      (start?: string) => {
        const from = start === undefined ? '' : `&start=${start}`;
        return service.call('GET', `/v2/tokens?metadata.group=${group}&size=1${from}`, undefined, { key });
      },
      (start?: string) =>
        service.call('POST', '/v2/tokens/search', { query: `metadata.group:${group}`, size: 1, start }, { key }),
    ];
    const nextOf = ({ body }: { readonly body: object }) =>
      String((body as { readonly pagination: { readonly next: string | null } }).pagination.next);
    const firsts = await Promise.all(requests.map((send) => send()));
    for (const { body } of firsts) expect(body['data']).toMatchObject([{ id: newest.id, data: newest.data }]);
    const rules = [rule('/shown/', 'mask', ['token:read', 'token:search'])];
    const { body: before } = await manage('GET', `/applications/${id}`);
    const narrowed = await manage('PUT', `/applications/${id}`, { name: before['name'], rules });
    expect(narrowed.status, narrowed.text).toBe(200);
    for (const [index, send] of requests.entries()) {
      const page = await send(nextOf(firsts[index] ?? { body: {} }));
      expect(page.status, page.text).toBe(200);
      expect(page.body['data']).toMatchObject([{ id: shown.id }]);
      expect(page.text).not.toContain(String(shown.data));
      expect(page.text).not.toContain(hidden.id);
      expect(page.body['pagination']).toEqual({ page_size: 1, next: null });
    }
    expect((await manage('DELETE', `/applications/${id}`)).status).toBe(204);
    for (const [index, send] of requests.entries()) {
      expect((await send(nextOf(firsts[index] ?? { body: {} }))).status).toBe(401);
    }
  });

  test('a cursor never leads to a token that expired or was deleted after the previous page', async ({ service }) => {
    const group = uniqueId('group');
    const expiresAt = new Date(service.clock.now() + 60_000).toISOString();
    const expiring = await createPlain(service, { metadata: { group }, expires_at: expiresAt });
    const deleted = await createPlain(service, { metadata: { group } });
    await createPlain(service, { metadata: { group } });
    const list = (start: string) => service.call('GET', `/v2/tokens?metadata.group=${group}&size=1${start}`);
    const { next } = (await list('')).body['pagination'] as { readonly next: string };
    // After these requests, the cache of verified rows contains the tokens.
    for (const { id } of [expiring, deleted]) expect((await service.call('GET', `/tokens/${id}`)).status).toBe(200);
    expect((await service.call('DELETE', `/tokens/${deleted.id}`)).status).toBe(204);
    service.clock.advance(60_000);
    const page = await list(`&start=${next}`);
    expect(page.body).toEqual({ pagination: { page_size: 1, next: null }, data: [] });
    for (const { id } of [expiring, deleted]) expect((await service.call('GET', `/tokens/${id}`)).status).toBe(404);
  });

  test('decoys: a caller below reveal is charged for each distinct value on every page, whether or not it is found', async () => {
    const limited = await limitedService({ requests: 100_000, guesses: 6 });
    const key = await limited.application([rule('/', 'mask', ['token:create', 'token:read', 'token:search'])]);
    const values = Array.from({ length: 4 }, () => uniqueId());
    for (const data of values) {
      const decoy = { type: 'token', data, search_indexes: ['{{ data }}'] };
      expect((await limited.call('POST', '/tokens', decoy, { key })).status).toBe(201);
    }
    const query = values.map((value) => `data:"${value}"`).join(' OR ');
    const search = (start?: string) => limited.call('POST', '/v2/tokens/search', { query, size: 2, start }, { key });
    const first = await search();
    expect(first.status, first.text).toBe(200);
    const { next } = first.body['pagination'] as { readonly next: string };
    expect(await search(next)).toMatchObject({ status: 429, body: { code: 'guesses_exhausted' } });
    expect(await search()).toMatchObject({ status: 429 });
  });
});
