import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { expectRefusal, test } from '../support.js';

const unauthenticated = { status: 401, code: 'unauthenticated' };
const missing = { status: 403, code: 'permission_missing' };

describe('a search requires a key and token:search, which are checked before the query', () => {
  test('401 without a key, or with a wrong one', async ({ service }) => {
    for (const key of [null, 'sr_private_wrong']) {
      const send = () => service.call('POST', '/tokens/search', { query: '(' }, { key });
      await expectRefusal(service, send, unauthenticated);
    }
  });

  test('403 with all permissions except token:search', async ({ service }) => {
    const others = ['token:create', 'token:read', 'token:update', 'token:delete', 'token:use'] as const;
    for (const access of [others, [rule('/', 'reveal', others)]]) {
      const key = await service.application(access);
      await expectRefusal(service, () => service.call('POST', '/tokens/search', { query: '(' }, { key }), missing);
    }
  });

  test('403 for a management application', async ({ service }) => {
    const send = () => service.call('POST', '/tokens/search', {}, { key: service.managementKey });
    await expectRefusal(service, send, missing);
  });

  test('403 for a public application, because it cannot have the permission', async ({ service }) => {
    const key = await service.application(['token:create', 'token:update'], 'public');
    await expectRefusal(service, () => service.call('POST', '/tokens/search', {}, { key }), missing);
  });

  test('200 with no tokens, instead of an error, if the rule covers no token', async ({ service }) => {
    const key = await service.application([rule('/nowhere/', 'reveal', ['token:search'])]);
    const { status, body } = await service.call('POST', '/tokens/search', {}, { key });
    expect([status, body['data']]).toEqual([200, []]);
  });
});
