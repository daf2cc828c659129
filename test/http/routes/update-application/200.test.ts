import { describe, expect } from 'vitest';
import { makeApplication, makeManager, manage, ownId, statusOf, timestamp } from '../directory-support.js';
import { createPlain, eventsSince, path, test } from '../support.js';

describe('200 PUT /applications/{id}', () => {
  test('changes the name and the permissions, and records who changed them and when', async ({ service }) => {
    const { id, body } = await makeApplication(service);
    const before = await service.eventCount();
    const answer = await manage(service, 'PUT', `/applications/${id}`, { name: 'new', permissions: ['token:search'] });
    const { key: _, ...shown } = body;
    const modified = { modified_by: await ownId(service, service.managementKey), modified_at: timestamp };
    expect(answer.body).toEqual({ ...shown, name: 'new', permissions: ['token:search'], ...modified });
    expect((await manage(service, 'GET', `/applications/${id}`)).body).toEqual(answer.body);
    const clear = { application_id: id, changed: ['name', 'permissions'] };
    expect(await eventsSince(service, before)).toMatchObject([{ type: 'application.updated', clear }]);
  });

  test('rules replace permissions, and permissions replace rules', async ({ service }) => {
    const { id } = await makeApplication(service);
    const rules = [{ priority: 1, container: '/pci/', transform: 'redact', permissions: ['token:read'] }];
    const withRules = await manage(service, 'PUT', `/applications/${id}`, { name: 'made', rules });
    expect(withRules.body).toMatchObject({ rules });
    expect(withRules.body).not.toHaveProperty('permissions');
    const back = await manage(service, 'PUT', `/applications/${id}`, { name: 'made', permissions: ['token:read'] });
    expect(back.body).not.toHaveProperty('rules');
  });

  test('takes effect immediately, even for a key that was used a moment ago', async ({ service }) => {
    const { id } = await createPlain(service);
    const { id: applicationId, key } = await makeApplication(service);
    const get = async () => (await service.call('GET', path(id), undefined, { key })).status;
    expect(await get()).toBe(200);
    await manage(service, 'PUT', `/applications/${applicationId}`, { name: 'x', permissions: ['token:delete'] });
    expect(await get()).toBe(403);
    await manage(service, 'PUT', `/applications/${applicationId}`, { name: 'x', permissions: ['token:read'] });
    expect(await get()).toBe(200);
  });

  test('a request that changes nothing stores nothing', async ({ service }) => {
    const { id } = await makeApplication(service);
    const before = await service.eventCount();
    const answer = await manage(service, 'PUT', `/applications/${id}`, { name: 'made', permissions: ['token:read'] });
    expect(answer.status).toBe(200);
    expect(answer.body).not.toHaveProperty('modified_at');
    expect(await service.eventCount()).toBe(before);
  });

  test('without an expiry leaves the expiry unchanged; null removes it, and a new one makes an expired application usable again', async ({
    service,
  }) => {
    const expires_at = new Date(service.clock.now() + 1_000).toISOString();
    const { id, key } = await makeApplication(service, { expires_at });
    const put = (more: object) =>
      manage(service, 'PUT', `/applications/${id}`, { name: 'x', permissions: ['token:read'], ...more });
    expect((await put({})).body).toHaveProperty('expires_at');
    service.clock.advance(1_000);
    expect(await statusOf(service, key)).toBe(401);
    expect((await put({ expires_at: null })).body).not.toHaveProperty('expires_at');
    expect(await statusOf(service, key)).toBe(200);
    await put({ expires_at: new Date(service.clock.now() + 500).toISOString() });
    expect(await statusOf(service, key)).toBe(200);
    service.clock.advance(500);
    expect(await statusOf(service, key)).toBe(401);
  });

  test('may remove permissions of the calling management application', async ({ service }) => {
    const { id, key } = await makeManager(service, ['application:update', 'log:read']);
    const body = { name: 'x', permissions: ['application:update'] };
    expect((await manage(service, 'PUT', `/applications/${id}`, body, key)).status).toBe(200);
  });
});
