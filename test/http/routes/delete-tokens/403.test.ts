import { describe, expect } from 'vitest';
import { createPlain, expectRefusal, test } from '../support.js';

const missing = { status: 403, code: 'permission_missing' };

describe('403 the permission is missing', () => {
  test.for([
    ['token:delete', 'token:delete', ['token:read', 'token:search', 'token:update', 'token:use'], { ids: [] }],
    ['token:search, which a query also needs', 'token:search', ['token:delete', 'token:read'], { query: 'type:token' }],
  ] as const)('%s', async ([, needed, permissions, body], { service }) => {
    await createPlain(service);
    const key = await service.application(permissions);
    const answer = await expectRefusal(service, () => service.call('POST', '/tokens/delete', body, { key }), missing);
    expect(answer.body['detail']).toContain(`: ${needed}.`);
  });
});
