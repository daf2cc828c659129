import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { card, create, createPlain, expectRefusal, path, read, test } from '../support.js';

const everythingElse = ['token:create', 'token:read', 'token:delete', 'token:search', 'token:use'] as const;

describe('403 and the cvc stays', () => {
  test('if token:update is missing, even for an unknown token', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: card });
    const missing = { status: 403, code: 'permission_missing' };
    for (const access of [everythingElse, [rule('/', 'reveal', everythingElse)]]) {
      const key = await service.application(access);
      for (const url of [path(id), '/tokens/unknown']) {
        await expectRefusal(service, () => service.call('DELETE', `${url}/cvc`, undefined, { key }), missing);
      }
    }
    expect((await read(service, id))['data']).toEqual(card);
  });

  test('if no rule grants it on this token, and this is checked before the 400 for another type', async ({
    service,
  }) => {
    const { id } = await create(service, { type: 'card', data: card });
    const plain = await createPlain(service);
    const key = await service.application([rule('/a/', 'reveal', ['token:update'])]);
    for (const one of [id, plain.id]) {
      const send = () => service.call('DELETE', `${path(one)}/cvc`, undefined, { key });
      await expectRefusal(service, send, { status: 403, code: 'forbidden' });
    }
    expect((await read(service, id))['data']).toEqual(card);
  });
});
