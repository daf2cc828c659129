import { describe } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { create, createPlain, expectRefusal, invalid, test } from '../support.js';

const body = { type: 'token', data: 1 };

describe('403 the permission is missing, which is checked before the body', () => {
  test.for([
    ['a private application that may only read', ['token:read', 'token:use'], 'private'],
    ['a public application that may only update', ['token:update'], 'public'],
    ['a management application', ['application:create'], 'management'],
  ] as const)('%s', async ([, permissions, type], { service }) => {
    const key = await service.application(permissions, type);
    const missing = { status: 403, code: 'permission_missing' };
    await expectRefusal(service, () => service.call('POST', '/tokens', body, { key }), missing);
    const headers = { 'content-type': 'text/plain' };
    await expectRefusal(service, () => service.call('POST', '/tokens', undefined, { key, raw: '{', headers }), missing);
  });

  test('if no rule grants it in any container', async ({ service }) => {
    const key = await service.application([rule('/', 'reveal', ['token:read'])]);
    const send = () => service.call('POST', '/tokens', body, { key });
    await expectRefusal(service, send, { status: 403, code: 'permission_missing' });
  });
});

describe('403 no rule allows the create in every destination container', () => {
  const forbidden = { status: 403, code: 'forbidden' };
  const rules = [rule('/a/', 'reveal', ['token:create']), rule('/b/', 'mask', ['token:read'])];

  test.for([
    ['the default container', undefined],
    ['a parent', ['/']],
    ['a container with a similar name', ['/a-b/']],
    ['only one of several containers', ['/a/', '/c/']],
    ['a rule without token:create', ['/b/']],
  ] as const)('%s', async ([, containers], { service }) => {
    const key = await service.application(rules);
    await expectRefusal(service, () => service.call('POST', '/tokens', { ...body, containers }, { key }), forbidden);
  });

  test('a child container is covered by its parent’s rule', async ({ service }) => {
    const key = await service.application(rules);
    await create(service, { ...body, containers: ['/a/', '/A/child/deep/'] }, { key });
  });

  test('an error in the body is reported before the 403, and an id in use after it', async ({ service }) => {
    const key = await service.application(rules);
    const { id } = await createPlain(service);
    const send = (fields: object) => () => service.call('POST', '/tokens', { ...body, ...fields }, { key });
    await expectRefusal(service, send({ id: 'a' }), invalid('id'));
    await expectRefusal(service, send({ id }), forbidden);
  });
});
