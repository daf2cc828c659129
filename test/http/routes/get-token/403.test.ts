import { describe } from 'vitest';
import type { AccessRule } from '#src/domain/access/access-rule.js';
import { rule } from '../../../support/test-service.js';
import { createPlain, expectRefusal, path, test } from '../support.js';

describe('403 the permission is missing, even for an unknown token', () => {
  test.for([
    ['permissions without it', ['token:create', 'token:use', 'token:search'], 'private'],
    ['a public application', ['token:create', 'token:update'], 'public'],
    ['a management application', ['log:read'], 'management'],
    ['rules without it', [rule('/', 'reveal', ['token:use'])], 'private'],
  ] as const)('%s', async ([, access, type], { service }) => {
    const { id } = await createPlain(service);
    const key = await service.application([...access] as AccessRule[], type);
    const missing = { status: 403, code: 'permission_missing' };
    for (const url of [path(id), '/tokens/unknown']) {
      await expectRefusal(service, () => service.call('GET', url, undefined, { key }), missing);
    }
  });
});

describe('403 no access rule covers the token', () => {
  test.for([
    ['another container', rule('/a/', 'reveal', ['token:read'])],
    ['a child', rule('/general/high/deep/', 'reveal', ['token:read'])],
    ['a similar name', rule('/gener/', 'reveal', ['token:read'])],
  ] as const)('%s', async ([, one], { service }) => {
    const { id } = await createPlain(service);
    const key = await service.application([one, rule('/', 'reveal', ['token:use'])]);
    const send = () => service.call('GET', path(id), undefined, { key });
    await expectRefusal(service, send, { status: 403, code: 'forbidden' });
  });
});
