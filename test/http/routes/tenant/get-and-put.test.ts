import { describe, expect } from 'vitest';
import { startTestService } from '../../../support/test-service.js';
import { manage, ownId, timestamp } from '../directory-support.js';
import { eventsSince, expectRefusal, invalid, test } from '../support.js';

const defaults = { deduplicate_tokens: 'false', keep_superseded_data: 'false', show_fingerprints: 'false' };

describe('GET and PUT /tenants/self', () => {
  test('200 shows the current state, and then the state after a change', async ({ service }) => {
    const tenant = { id: service.tenantId, name: 'test', settings: defaults, created_by: 'operator' };
    const first = await manage(service, 'GET', '/tenants/self');
    expect(first.body).toEqual({ ...tenant, created_at: timestamp });
    const before = await service.eventCount();
    const settings = { keep_superseded_data: 'true' };
    const answer = await manage(service, 'PUT', '/tenants/self', { name: 'shop', settings });
    expect(answer.status, answer.text).toBe(200);
    const modified = { modified_by: await ownId(service, service.managementKey), modified_at: timestamp };
    const changed = { ...first.body, name: 'shop', settings: { ...defaults, ...settings }, ...modified };
    expect(answer.body).toEqual(changed);
    expect((await manage(service, 'GET', '/tenants/self')).body).toEqual(changed);
    const clear = { changed: ['name', 'settings'] };
    expect(await eventsSince(service, before)).toMatchObject([{ type: 'tenant.updated', clear }]);
    const back = { name: 'test', settings: { ...defaults, deduplicate_tokens: null } };
    expect((await manage(service, 'PUT', '/tenants/self', back)).body).toMatchObject({ settings: defaults });
  });

  test('200 for a request that changes nothing, and nothing is stored', async ({ service }) => {
    const before = await service.eventCount();
    expect((await manage(service, 'PUT', '/tenants/self', { name: 'test' })).status).toBe(200);
    expect(await service.eventCount()).toBe(before);
  });

  test.for([
    ['no name', { settings: {} }, ['name']],
    ['an empty name', { name: '' }, ['name']],
    ['settings that are not an object', { name: 'x', settings: ['true'] }, ['settings']],
    ['an unknown setting', { name: 'x', settings: { dedupe: 'true' } }, ['settings']],
    ['a boolean', { name: 'x', settings: { deduplicate_tokens: true } }, ['settings.deduplicate_tokens']],
    ['another string', { name: 'x', settings: { keep_superseded_data: 'yes' } }, ['settings.keep_superseded_data']],
  ] as const)('400 for %s', async ([, body, paths], { service }) => {
    await expectRefusal(service, () => manage(service, 'PUT', '/tenants/self', body), invalid(...paths));
  });

  test('a missing name is named as missing, not as a value of a wrong type', async ({ service }) => {
    const messageOf = async (body: object) => (await manage(service, 'PUT', '/tenants/self', body)).body['errors'];
    expect(await messageOf({ settings: {} })).toEqual({ name: ['is required'] });
    expect(await messageOf({ name: 1 })).toEqual({ name: ['must be a string'] });
  });

  test('the settings take effect with the next request', async () => {
    const service = await startTestService();
    try {
      const create = async () => (await service.call('POST', '/tokens', { type: 'token', data: 'same' })).body;
      const put = (settings: object) => manage(service, 'PUT', '/tenants/self', { name: 'test', settings });
      const first = await create();
      await put({ deduplicate_tokens: 'true' });
      expect(await create()).toMatchObject({ id: first['id'], _extras: { deduplicated: true } });
      await put({ deduplicate_tokens: 'false', keep_superseded_data: 'true' });
      const second = await create();
      expect(second['id']).not.toBe(first['id']);
      const before = await service.eventCount();
      await service.call('PATCH', `/tokens/${second['id']}`, { data: 'new' });
      expect(await eventsSince(service, before)).toMatchObject([{ type: 'token.updated', clear: { ends: [] } }]);
      await put({ keep_superseded_data: 'false' });
      await service.call('PATCH', `/tokens/${second['id']}`, { data: 'newer' });
      const [, , updated] = await eventsSince(service, before);
      expect(((updated?.clear['ends'] ?? []) as string[]).length).toBe(1);
    } finally {
      await service.close();
    }
  });
});
