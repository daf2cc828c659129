import { describe, expect } from 'vitest';
import { makeApplication, makeManager, manage, ownId } from '../directory-support.js';
import { expectRefusal, test } from '../support.js';

const notFound = { status: 404, code: 'application_not_found' };

describe('GET /applications/{id}', () => {
  test('200 with application:read, even if the application has more permissions or has expired, and for HEAD', async ({
    service,
  }) => {
    const { key } = await makeManager(service, ['application:read']);
    const strong = await ownId(service, service.managementKey);
    expect((await manage(service, 'GET', `/applications/${strong}`, undefined, key)).body).toMatchObject({
      id: strong,
    });
    const expires_at = new Date(service.clock.now() + 1_000).toISOString();
    const short = await makeApplication(service, { expires_at });
    service.clock.advance(2_000);
    const answer = await manage(service, 'GET', `/applications/${short.id}`);
    expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
    const head = await service.call('HEAD', `/applications/${short.id}`, undefined, { key: service.managementKey });
    expect(head).toMatchObject({ status: 200, text: '' });
  });

  test('identical 404 responses for an unknown application, a deleted one and another tenant’s', async ({
    service,
  }) => {
    const deleted = await makeApplication(service);
    await manage(service, 'DELETE', `/applications/${deleted.id}`);
    const foreign = await ownId(service, await service.otherTenant());
    const answers: string[] = [];
    for (const id of ['unknown', service.tenantId, deleted.id, foreign]) {
      const answer = await expectRefusal(service, () => manage(service, 'GET', `/applications/${id}`), notFound);
      answers.push(JSON.stringify({ ...answer.body, instance: '' }));
    }
    expect(new Set(answers).size).toBe(1);
  });
});

describe('GET /applications/key', () => {
  test('200 shows the calling application itself, whatever its permissions are', async ({ service }) => {
    const made = [
      await makeApplication(service),
      await makeApplication(service, { type: 'public', permissions: ['token:create'] }),
      await makeManager(service, ['log:read']),
    ];
    for (const { id, key, body } of made) {
      const answer = await service.call('GET', '/applications/key', undefined, { key });
      const { key: _, ...shown } = body;
      expect(answer.body).toEqual({ ...shown, id });
      expect(answer.headers['cache-control']).toBe('no-store');
    }
  });
});
