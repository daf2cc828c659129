import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { expectRefusal, invalid, test } from '../support.js';

const address = '/tokens/search/suggestions';

describe('400 an invalid prefix', () => {
  test.for([
    [`?prefix=${'a'.repeat(211)}`, 'must have at most 210 characters'],
    ['?prefix=a&prefix=b', 'must be given at most once'],
  ])('%s', async ([query, message], { service }) => {
    const answer = await expectRefusal(service, () => service.call('GET', address + query), invalid('prefix'));
    expect(answer.body['errors']).toEqual({ prefix: [message] });
  });

  test('that is not valid UTF-8', async ({ service }) => {
    const send = () => service.call('GET', `${address}?prefix=%ff`);
    await expectRefusal(service, send, { status: 400, code: 'malformed_request' });
  });

  test('of more than 210 characters, counted as code points, which is not processed', async ({ service }) => {
    const query = `?prefix=${encodeURIComponent('🙂'.repeat(210))}&other=1`;
    expect((await service.call('GET', address + query)).body).toEqual({ suggestions: [] });
  });
});

test('401 without a key', async ({ service }) => {
  const send = () => service.call('GET', address, undefined, { key: null });
  await expectRefusal(service, send, { status: 401, code: 'unauthenticated' });
});

test('403 without token:search, before the prefix is validated', async ({ service }) => {
  const others = ['token:create', 'token:read', 'token:update', 'token:delete', 'token:use'] as const;
  for (const access of [others, [rule('/', 'reveal', others)]]) {
    const key = await service.application(access);
    const send = () => service.call('GET', `${address}?prefix=${'a'.repeat(300)}`, undefined, { key });
    await expectRefusal(service, send, { status: 403, code: 'permission_missing' });
  }
  const send = () => service.call('GET', address, undefined, { key: service.managementKey });
  await expectRefusal(service, send, { status: 403, code: 'permission_missing' });
});
