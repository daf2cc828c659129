import { describe, expect } from 'vitest';
import { makeApplication, manage, ownId, statusOf, timestamp, uuid } from '../directory-support.js';
import { createPlain, eventsSince, path, test } from '../support.js';

describe('201 the response', () => {
  test('has every field that has a value, and the key only in this response', async ({ service }) => {
    const expires_at = '2030-01-01T00:00:00.000+00:00';
    const rules = [
      { description: 'cards', priority: 2, container: '/PCI/', transform: 'mask', permissions: ['token:read'] },
    ];
    const { body } = await makeApplication(service, { name: 'till', permissions: undefined, rules, expires_at });
    expect(body).toEqual({
      id: uuid,
      tenant_id: service.tenantId,
      name: 'till',
      type: 'private',
      expires_at,
      rules: [{ ...rules[0], container: '/pci/' }],
      created_by: await ownId(service, service.managementKey),
      created_at: timestamp,
      key: expect.stringMatching(/^sr_private_[0-9A-Za-z]{49}$/),
    });
    const read = await manage(service, 'GET', `/applications/${body['id']}`);
    const { key, ...shown } = body;
    expect(read.body).toEqual(shown);
    expect(read.text).not.toContain(String(key));
  });

  test('has a Location, and must not be cached', async ({ service }) => {
    const body = { name: 'x', type: 'public', permissions: ['token:create'] };
    const answer = await manage(service, 'POST', '/applications/', body);
    expect(answer.status, answer.text).toBe(201);
    expect(answer.headers).toMatchObject({
      location: `/applications/${answer.body['id']}`,
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    });
  });

  test.for([
    ['private', ['token:read', 'token:use', 'token:use']],
    ['public', ['token:create', 'token:update']],
    ['management', ['log:read', 'application:read']],
  ] as const)('a %s application', async ([type, permissions], { service }) => {
    const { body, key } = await makeApplication(service, { type, permissions });
    expect(body).toMatchObject({ type, permissions: [...new Set(permissions)] });
    expect(await statusOf(service, key)).toBe(200);
  });
});

describe('201 the new application', () => {
  test('has a key that works immediately, with the given permissions', async ({ service }) => {
    const { id } = await createPlain(service);
    const { key } = await makeApplication(service);
    expect((await service.call('GET', path(id), undefined, { key })).status).toBe(200);
    expect((await service.call('DELETE', path(id), undefined, { key })).status).toBe(403);
  });

  test('has a key that works until the application expires, to the millisecond', async ({ service }) => {
    const expires_at = new Date(service.clock.now() + 10_000).toISOString();
    const { key } = await makeApplication(service, { expires_at });
    service.clock.advance(9_999);
    expect(await statusOf(service, key)).toBe(200);
    service.clock.advance(1);
    expect(await statusOf(service, key)).toBe(401);
  });

  test('is stored in one append to the tenant’s stream, with no name or permission in plaintext', async ({
    service,
  }) => {
    const before = await service.eventCount();
    const { id, key } = await makeApplication(service, { name: 'A very secret name' });
    const events = await eventsSince(service, before);
    const stream = `tenant-${service.tenantId}`;
    expect(events).toMatchObject([
      { type: 'application.created', stream, clear: { application_id: id, application_type: 'private' } },
      { type: 'application.key.issued', stream, clear: { application_id: id, key_id: uuid } },
    ]);
    expect(JSON.stringify(events)).not.toMatch(/secret name|token:read/);
    expect(JSON.stringify(events)).not.toContain(key);
  });

  test('is created even with null for missing fields, and with unknown fields', async ({ service }) => {
    const { body } = await makeApplication(service, { rules: null, expires_at: null, color: 'red', id: 'mine' });
    expect(body).not.toHaveProperty('color');
    expect(body).toMatchObject({ id: uuid, permissions: ['token:read'] });
  });

  test('may have 50 permissions, not counting repeats, and 50 rules', async ({ service }) => {
    const permissions = Array(50).fill('token:read');
    expect((await makeApplication(service, { permissions })).body['permissions']).toEqual(['token:read']);
    const one = { description: '', container: '/', transform: 'mask', permissions: ['token:read'] };
    const rules = Array.from({ length: 50 }, (_, priority) => ({ ...one, priority: priority + 1 }));
    const body = { name: 'many', type: 'private', rules };
    const answer = await service.call('POST', '/applications', body, { key: service.managementKey });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body['rules']).toHaveLength(50);
  });

  test('may have a name of 200 characters, and a name that another application has', async ({ service }) => {
    const name = '🔑'.repeat(200);
    expect((await makeApplication(service, { name })).body['name']).toBe(name);
    expect((await makeApplication(service, { name })).body['name']).toBe(name);
  });
});
