import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { expectRefusal, invalid, test } from '../support.js';

describe('400 an invalid query string: the errors name every invalid parameter', () => {
  test.for<[string, string[]]>([
    ['page=0', ['page']],
    ['page=-1', ['page']],
    ['page=+1', ['page']],
    ['page=1.0', ['page']],
    ['page=1e1', ['page']],
    ['page=', ['page']],
    ['page=one', ['page']],
    ['page=1&page=2', ['page']],
    ['page=99999999999999999999', ['page']],
    ['size=0', ['size']],
    ['size=101', ['size']],
    ['size=0x10', ['size']],
    ['page=0&size=0', ['page', 'size']],
    ['metadata=Zq7', ['metadata']],
    ['metadata=[]', ['metadata']],
    ['metadata=null', ['metadata']],
    ['metadata="Zq7"', ['metadata']],
    ['metadata={"a":1}', ['metadata']],
    ['metadata={"a":{"b":"Zq7"}}', ['metadata']],
    ['metadata=', ['metadata']],
    // A misspelled filter must be rejected. If the vault ignored the filter, every token would match.
    ['metadata[]=Zq7', ['metadata[]']],
    ['metadata_customer=Zq7', ['metadata_customer']],
    ['metadata_filter=Zq7', ['metadata_filter']],
    ['metadata:customer=Zq7', ['metadata:customer']],
    ['Metadata.customer=Zq7', ['Metadata.customer']],
    ['METADATA={"customer":"Zq7"}', ['METADATA']],
    ['metadata_4242424242424242=Zq7', ['*']],
  ])('%s', async ([query, paths], { service }) => {
    const url = `/tokens?${query.replaceAll('"', '%22').replaceAll('{', '%7B').replaceAll('}', '%7D')}`;
    const answer = await expectRefusal(service, () => service.call('GET', url), invalid(...paths));
    expect(answer.text).not.toContain('Zq7');
  });

  test('a repeated page or size is called repeated', async ({ service }) => {
    const { body } = await service.call('GET', '/tokens?page=1&page=2&size=1&size=1');
    const message = 'must be given at most once';
    expect(body['errors']).toEqual({ page: [message], size: [message] });
  });

  test.for(['id=%zz', 'id=%', 'metadata.a=%C3%28'])('%s', async (query, { service }) => {
    const send = () => service.call('GET', `/tokens?${query}`);
    await expectRefusal(service, send, { status: 400, code: 'malformed_request' });
  });
});

describe('401 and 403 come before that', () => {
  test('401 without a key', async ({ service }) => {
    const send = () => service.call('GET', '/tokens?page=0', undefined, { key: null });
    await expectRefusal(service, send, { status: 401, code: 'unauthenticated' });
  });

  test('403 with all permissions except token:read', async ({ service }) => {
    const others = ['token:create', 'token:search', 'token:update', 'token:delete', 'token:use'] as const;
    for (const access of [others, [rule('/', 'reveal', others)]]) {
      const key = await service.application(access);
      const send = () => service.call('GET', '/tokens?page=0', undefined, { key });
      await expectRefusal(service, send, { status: 403, code: 'permission_missing' });
    }
  });
});
