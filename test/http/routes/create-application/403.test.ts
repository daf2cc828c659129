import { describe, expect } from 'vitest';
import { makeApplication, makeManager, manage } from '../directory-support.js';
import { expectRefusal, test } from '../support.js';

const missing = { status: 403, code: 'permission_missing' };
const exceeds = { status: 403, code: 'exceeds_own_permissions' };

describe('403 no application can create another application with more permissions than its own', () => {
  test('a public, a private and a read-only management application can create none', async ({ service }) => {
    const keys = [
      service.key,
      (await makeApplication(service, { type: 'public', permissions: ['token:create', 'token:update'] })).key,
      (await makeManager(service, ['application:read', 'application:update', 'application:delete'])).key,
    ];
    for (const key of keys) {
      const body = { name: 'mine', type: 'private', permissions: ['token:use'] };
      await expectRefusal(service, () => manage(service, 'POST', '/applications', body, key), missing);
    }
  });

  test.for(['log:read', 'application:update', 'tenant:delete'])(
    '%s, which the caller does not have',
    async (more, { service }) => {
      const { key } = await makeManager(service, ['application:create', 'application:read']);
      const body = { name: 'mine', type: 'management', permissions: ['application:create', more] };
      await expectRefusal(service, () => manage(service, 'POST', '/applications', body, key), exceeds);
    },
  );

  test('an application may grant any token permission, and the permissions that it has itself', async ({ service }) => {
    const { key } = await makeManager(service, ['application:create', 'log:read']);
    const equal = await makeManager(service, ['application:create', 'log:read'], key);
    const child = await makeManager(service, ['log:read'], equal.key);
    expect(child.body['permissions']).toEqual(['log:read']);
    await makeApplication(service, { permissions: ['token:use', 'token:delete'] }, key);
  });

  test('an error in the body is reported first, so that the response reveals nothing about the caller’s permissions', async ({
    service,
  }) => {
    const { key } = await makeManager(service, ['application:create']);
    const body = { name: '', type: 'management', permissions: ['log:read'] };
    expect((await manage(service, 'POST', '/applications', body, key)).status).toBe(400);
  });
});
