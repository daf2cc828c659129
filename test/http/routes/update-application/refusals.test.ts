import { describe, expect } from 'vitest';
import { startTestService } from '../../../support/test-service.js';
import { makeApplication, makeManager, manage, ownId } from '../directory-support.js';
import { expectRefusal, invalid, test } from '../support.js';

const exceeds = { status: 403, code: 'exceeds_own_permissions' };
const last = { status: 409, code: 'last_administrator' };
const good = { name: 'x', permissions: ['token:read'] };

describe('400 the error names each invalid field, and nothing is stored', () => {
  test.for([
    ['no name', { ...good, name: undefined }, ['name']],
    ['a name of 201 characters', { ...good, name: 'x'.repeat(201) }, ['name']],
    ['neither permissions nor rules', { name: 'x' }, ['permissions']],
    ['another type', { ...good, type: 'public' }, ['type']],
    ['a permission that its type may not have', { ...good, permissions: ['log:read'] }, ['permissions[0]']],
    ['a bad rule', { name: 'x', rules: [{ transform: 'mask', permissions: ['token:read'] }] }, ['rules[0].container']],
    ['an expiry in the past', { ...good, expires_at: '2020-01-01' }, ['expires_at']],
  ] as const)('%s', async ([, body, paths], { service }) => {
    const { id } = await makeApplication(service);
    await expectRefusal(service, () => manage(service, 'PUT', `/applications/${id}`, body), invalid(...paths));
  });
});

describe('400 before 404: the body is checked before the application is looked up', () => {
  test.for([
    ['no name', { ...good, name: undefined }, ['name']],
    ['a name of 201 characters and neither permissions nor rules', { name: 'x'.repeat(201) }, ['name', 'permissions']],
    ['permissions that are no list', { name: 'x', permissions: 'token:read' }, ['permissions']],
    ['no permission', { name: 'x', permissions: [] }, ['permissions']],
    ['permissions and rules', { ...good, rules: [] }, ['rules']],
    ['rules that are no list', { name: 'x', rules: {} }, ['rules']],
  ] as const)('%s', async ([, body, paths], { service }) => {
    await expectRefusal(service, () => manage(service, 'PUT', '/applications/unknown', body), invalid(...paths));
  });
});

describe('403 an attacker', () => {
  test('without application:update cannot grant itself anything', async ({ service }) => {
    const { id, key } = await makeManager(service, ['application:create', 'application:read', 'application:delete']);
    const body = { name: 'x', permissions: ['application:create', 'application:update'] };
    const send = () => manage(service, 'PUT', `/applications/${id}`, body, key);
    await expectRefusal(service, send, { status: 403, code: 'permission_missing' });
  });

  test('with application:update cannot grant itself permissions that it does not have', async ({ service }) => {
    const { id, key } = await makeManager(service, ['application:update']);
    const body = { name: 'x', permissions: ['application:update', 'tenant:delete'] };
    await expectRefusal(service, () => manage(service, 'PUT', `/applications/${id}`, body, key), exceeds);
  });

  test('cannot grant such permissions to another application, or rename or weaken an application with more permissions', async ({
    service,
  }) => {
    const { key } = await makeManager(service, ['application:update']);
    const accomplice = await makeManager(service, ['application:update']);
    const strong = await ownId(service, service.managementKey);
    for (const [id, permissions] of [
      [accomplice.id, ['log:read']],
      [strong, ['application:update']],
    ] as const) {
      const body = { name: 'x', permissions };
      await expectRefusal(service, () => manage(service, 'PUT', `/applications/${id}`, body, key), exceeds);
    }
  });

  test('with a public application cannot get more permissions', async ({ service }) => {
    const { id, key } = await makeApplication(service, { type: 'public', permissions: ['token:create'] });
    const body = { name: 'x', permissions: ['token:create', 'token:update'] };
    const send = () => manage(service, 'PUT', `/applications/${id}`, body, key);
    await expectRefusal(service, send, { status: 403, code: 'permission_missing' });
  });

  test('gets 403 before the type of the stored application is checked', async ({ service }) => {
    const { key } = await makeManager(service, ['application:update']);
    const strong = await ownId(service, service.managementKey);
    await expectRefusal(service, () => manage(service, 'PUT', `/applications/${strong}`, good, key), exceeds);
  });
});

describe('404', () => {
  test('for an application that is unknown, deleted or of another tenant', async ({ service }) => {
    const foreign = await ownId(service, await service.otherTenant());
    const deleted = await makeApplication(service);
    await manage(service, 'DELETE', `/applications/${deleted.id}`);
    for (const id of [foreign, 'unknown', deleted.id]) {
      const send = () => manage(service, 'PUT', `/applications/${id}`, good);
      await expectRefusal(service, send, { status: 404, code: 'application_not_found' });
    }
  });
});

describe('409 the last application that can create and update applications', () => {
  test('cannot lose these permissions or get an expiry', async () => {
    const service = await startTestService();
    try {
      const id = await ownId(service, service.managementKey);
      await makeManager(service, ['application:create']);
      const rest = ['application:update', 'application:read', 'application:delete'];
      for (const body of [
        { name: 'x', permissions: rest },
        { name: 'x', permissions: [...rest, 'application:create'], expires_at: '2040-01-01' },
      ]) {
        await expectRefusal(service, () => manage(service, 'PUT', `/applications/${id}`, body), last);
      }
      await makeManager(service, ['application:create', 'application:update']);
      const answer = await manage(service, 'PUT', `/applications/${id}`, { name: 'x', permissions: rest });
      expect(answer.status, answer.text).toBe(200);
    } finally {
      await service.close();
    }
  });
});
