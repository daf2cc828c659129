import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { createPlain, expectRefusal, path, read, test } from '../support.js';

const everythingElse = ['token:create', 'token:read', 'token:update', 'token:search', 'token:use'] as const;

describe('403 and the token stays', () => {
  test('if the permission is missing, even for an unknown token', async ({ service }) => {
    const { id } = await createPlain(service);
    const missing = { status: 403, code: 'permission_missing' };
    for (const access of [everythingElse, [rule('/', 'reveal', everythingElse)]]) {
      const key = await service.application(access);
      for (const url of [path(id), '/tokens/unknown']) {
        await expectRefusal(service, () => service.call('DELETE', url, undefined, { key }), missing);
      }
    }
    expect((await read(service, id))['data']).toBe('value');
  });

  test('if no rule grants it on this token, and this is checked before 412', async ({ service }) => {
    const { id } = await createPlain(service);
    const rules = [rule('/a/', 'reveal', ['token:delete']), rule('/', 'reveal', everythingElse)];
    const key = await service.application(rules);
    const headers = { 'if-match': '"7"' };
    const forbidden = { status: 403, code: 'forbidden' };
    await expectRefusal(service, () => service.call('DELETE', path(id), undefined, { key, headers }), forbidden);
    const unknown = () => service.call('DELETE', '/tokens/unknown', undefined, { key });
    await expectRefusal(service, unknown, { status: 404, code: 'token_not_found' });
    expect((await read(service, id))['data']).toBe('value');
  });
});
