import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { createPlain, expectRefusal, invalid, path, test, uniqueId } from '../support.js';

const body = [{ type: 'token', data: 1 }, 'x'];

describe('403', () => {
  test('if the permission is missing, which is checked before the body', async ({ service }) => {
    const key = await service.application(['token:read', 'token:use', 'token:update']);
    const missing = { status: 403, code: 'permission_missing' };
    await expectRefusal(service, () => service.call('POST', '/tokenize', body, { key }), missing);
    await expectRefusal(service, () => service.call('POST', '/tokenize', undefined, { key, raw: '{' }), missing);
  });

  test('if one part is outside the rules, for the whole request, and every id stays free', async ({ service }) => {
    const key = await service.application([rule('/a/', 'reveal', ['token:create'])]);
    const id = uniqueId();
    const allowed = { type: 'token', data: 1, containers: ['/a/'], id };
    const forbidden = { status: 403, code: 'forbidden' };
    for (const other of ['x', { type: 'token', data: 1 }, { ...allowed, id: uniqueId(), containers: ['/a/', '/b/'] }]) {
      await expectRefusal(service, () => service.call('POST', '/tokenize', [allowed, other], { key }), forbidden);
    }
    expect((await service.call('GET', path(id))).status).toBe(404);
    await createPlain(service, { id });
  });

  test('invalid parts are reported before an id that is in use', async ({ service }) => {
    const key = await service.application([rule('/a/', 'reveal', ['token:create'])]);
    const { id } = await createPlain(service);
    const outside = { type: 'token', data: 1 };
    const faulty = { type: 'token', data: 1, containers: ['/a/'], expires_at: 'x' };
    const taken = { type: 'token', data: 1, containers: ['/a/'], id };
    const send = (parts: object[]) => () => service.call('POST', '/tokenize', parts, { key });
    await expectRefusal(service, send([outside, faulty]), invalid('[1].expires_at'));
    await expectRefusal(service, send([taken, outside]), { status: 403, code: 'forbidden' });
  });
});
