import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { createPlain, expectRefusal, invalid, test, uniqueId } from '../support.js';

const forbidden = { status: 403, code: 'forbidden' };

describe('403', () => {
  test.for([
    ['a private application without token:use', ['token:read', 'token:search'], 'private'],
    ['a public application', ['token:create', 'token:update'], 'public'],
    ['a management application', ['application:read'], 'management'],
  ] as const)('if the permission is missing: %s', async ([, permissions, type], { service }) => {
    const key = await service.application(permissions, type);
    const missing = { status: 403, code: 'permission_missing' };
    await expectRefusal(service, () => service.call('POST', '/detokenize', undefined, { key, raw: '{' }), missing);
  });

  test('if one id is outside the rules, and then nothing of the other tokens is shown', async ({ service }) => {
    const key = await service.application([
      rule('/a/', 'reveal', ['token:use']),
      rule('/', 'reveal', ['token:read', 'token:update', 'token:search']),
    ]);
    const inside = await createPlain(service, { data: 'inside', containers: ['/a/'] });
    const outside = await createPlain(service, { data: 'outside' });
    const body = [`{{ ${inside.id} }}`, `{{ ${outside.id} | json: '$.x' }}`];
    const answer = await expectRefusal(service, () => service.call('POST', '/detokenize', body, { key }), forbidden);
    expect(answer.text).not.toMatch(/inside|outside/);
    const whole = [`{{ token: ${outside.id} }}`];
    await expectRefusal(service, () => service.call('POST', '/detokenize', whole, { key }), forbidden);
  });

  test('after unknown ids are reported, and before expressions that fail', async ({ service }) => {
    const key = await service.application([rule('/a/', 'reveal', ['token:use'])]);
    const outside = await createPlain(service);
    const inside = await createPlain(service, { containers: ['/a/'] });
    const send = (body: object) => () => service.call('POST', '/detokenize', body, { key });
    const unknown = { a: `{{ ${outside.id} }}`, b: `{{ ${uniqueId()} }}` };
    await expectRefusal(service, send(unknown), invalid('b'));
    const failing = { a: `{{ ${inside.id} | to_number }}`, b: `{{ ${outside.id} }}` };
    await expectRefusal(service, send(failing), forbidden);
  });
});
