import { describe, expect } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { startTestService } from '../../../support/test-service.js';
import { makeApplication, manage } from '../directory-support.js';
import { expectRefusal, invalid, test } from '../support.js';

describe('200 the tenant’s applications', () => {
  test('are listed newest first, in pages with exact totals, and can be filtered by type and id', async () => {
    const service = await startTestService();
    try {
      const made: string[] = [];
      for (let i = 0; i < 5; i += 1) made.unshift((await makeApplication(service, { name: `n${i}` })).id);
      const other = await makeApplication(service, { type: 'public', permissions: ['token:create'] });
      const list = async (query: string) => {
        const { status, body, text } = await manage(service, 'GET', `/applications${query}`);
        expect(status, text).toBe(200);
        return { ids: (body['data'] as JsonObject[]).map(({ id }) => id), pagination: body['pagination'] };
      };
      const all = await list('');
      expect(all.ids.slice(0, 6)).toEqual([other.id, ...made]);
      expect(all.pagination).toEqual({ total_items: 8, page_number: 1, page_size: 20, total_pages: 1 });
      expect(await list('?page=2&size=3')).toEqual({
        ids: all.ids.slice(3, 6),
        pagination: { total_items: 8, page_number: 2, page_size: 3, total_pages: 3 },
      });
      expect(await list('?page=9&size=3')).toMatchObject({ ids: [], pagination: { total_items: 8, page_number: 9 } });
      expect(await list(`?page=${Number.MAX_SAFE_INTEGER}&size=100`)).toMatchObject({ ids: [] });
      expect((await list('?type=public')).ids).toEqual([other.id]);
      expect((await list('?type=public&type=management')).pagination).toMatchObject({ total_items: 2 });
      expect((await list(`?id=${other.id}&id=${made[1]}&id=unknown`)).ids).toEqual([other.id, made[1]]);
      expect((await list(`?id=${other.id}&type=private`)).ids).toEqual([]);
      expect((await list('?type=nothing&color=red')).ids).toEqual([]);
      await manage(service, 'DELETE', `/applications/${other.id}`);
      expect((await list('')).pagination).toMatchObject({ total_items: 7 });
    } finally {
      await service.close();
    }
  });

  test('include no key and no application of another tenant', async ({ service }) => {
    const { key } = await makeApplication(service);
    await service.otherTenant();
    const answer = await manage(service, 'GET', '/applications?size=100');
    expect(answer.text).not.toMatch(/sr_|hash|"key/);
    expect(answer.text).not.toContain(key);
    for (const application of answer.body['data'] as JsonObject[]) {
      expect(application['tenant_id']).toBe(service.tenantId);
    }
  });
});

describe('400 an invalid page', () => {
  test.for([
    ['page=0', 'page'],
    ['page=-1', 'page'],
    ['page=1.5', 'page'],
    ['page=x', 'page'],
    ['page=', 'page'],
    ['page=1&page=2', 'page'],
    ['page=99999999999999999', 'page'],
    ['size=0', 'size'],
    ['size=101', 'size'],
    ['size=1e1', 'size'],
  ])('%s', async ([query, field], { service }) => {
    const send = () => manage(service, 'GET', `/applications?${query}`);
    await expectRefusal(service, send, invalid(String(field)));
  });
});
