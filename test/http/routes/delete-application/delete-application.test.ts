import { describe, expect } from 'vitest';
import { startTestService } from '../../../support/test-service.js';
import { makeApplication, makeManager, manage, ownId, statusOf } from '../directory-support.js';
import { createPlain, eventsSince, expectRefusal, path, test } from '../support.js';

const last = { status: 409, code: 'last_administrator' };

describe('204 DELETE /applications/{id}', () => {
  test('all its keys stop working immediately, even those that were used a moment ago; a second request returns 404', async ({
    service,
  }) => {
    const { id, key } = await makeApplication(service);
    const second = String((await manage(service, 'POST', `/applications/${id}/keys`)).body['key']);
    for (const one of [key, second]) expect(await statusOf(service, one)).toBe(200);
    const before = await service.eventCount();
    const answer = await manage(service, 'DELETE', `/applications/${id}`);
    expect(answer).toMatchObject({ status: 204, text: '' });
    for (const one of [key, second]) expect(await statusOf(service, one)).toBe(401);
    const clear = { application_id: id };
    expect(await eventsSince(service, before)).toMatchObject([{ type: 'application.deleted', clear }]);
    const repeat = () => manage(service, 'DELETE', `/applications/${id}`);
    await expectRefusal(service, repeat, { status: 404, code: 'application_not_found' });
  });

  test('the tokens that it created stay', async ({ service }) => {
    const maker = await makeApplication(service, { permissions: ['token:create', 'token:read'] });
    const token = await service.call('POST', '/tokens', { type: 'token', data: 'x' }, { key: maker.key });
    await manage(service, 'DELETE', `/applications/${maker.id}`);
    const read = await service.call('GET', path(String(token.body['id'])));
    expect(read.body).toMatchObject({ created_by: maker.id, data: 'x' });
    await createPlain(service);
  });

  test('an application may delete itself', async ({ service }) => {
    const { id, key } = await makeManager(service, ['application:delete']);
    expect((await manage(service, 'DELETE', `/applications/${id}`, undefined, key)).status).toBe(204);
    expect(await statusOf(service, key)).toBe(401);
  });
});

describe('403 and 404', () => {
  test('an application cannot delete another one that has more permissions', async ({ service }) => {
    const { key } = await makeManager(service, ['application:delete']);
    const strong = await makeManager(service, ['log:read']);
    const send = () => manage(service, 'DELETE', `/applications/${strong.id}`, undefined, key);
    await expectRefusal(service, send, { status: 403, code: 'exceeds_own_permissions' });
  });

  test('another tenant’s application is unknown to the caller, and is not deleted', async ({ service }) => {
    const foreign = await service.otherTenant();
    const send = async () => manage(service, 'DELETE', `/applications/${await ownId(service, foreign)}`);
    await expectRefusal(service, send, { status: 404, code: 'application_not_found' });
    expect(await statusOf(service, foreign)).toBe(200);
  });
});

describe('409 the last application that can create and update applications', () => {
  test('cannot be deleted, but the second to last one can', async () => {
    const service = await startTestService();
    try {
      const id = await ownId(service, service.managementKey);
      await makeManager(service, ['application:create', 'application:delete']);
      await makeApplication(service, {
        type: 'management',
        permissions: ['application:create', 'application:update'],
        expires_at: '2040-01-01',
      });
      await expectRefusal(service, () => manage(service, 'DELETE', `/applications/${id}`), last);
      expect(await statusOf(service, service.managementKey)).toBe(200);
      await makeManager(service, ['application:create', 'application:update']);
      expect((await manage(service, 'DELETE', `/applications/${id}`)).status).toBe(204);
    } finally {
      await service.close();
    }
  });
});
