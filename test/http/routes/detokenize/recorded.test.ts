import { describe, expect, vi } from 'vitest';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { rule } from '../../../support/test-service.js';
import { detokenize, tokenize } from '../batch.js';
import { operationsOn } from '../list-logs/support.js';
import { create, createPlain, path, test, uniqueId } from '../support.js';

describe('the access log contains a record of every token before the response is sent', () => {
  test('each token is recorded once, with the transform under which it was shown', async ({ service }) => {
    const token = { type: 'card_number', data: '4242424242424242' };
    const { id } = await create(service, token);
    const key = await service.application([rule('/', 'mask', ['token:use'])]);
    const body = [`{{ ${id} }}`, `{{ ${id} | last4 }}`, `{{ token: ${id} }}`];
    await detokenize(service, body);
    await detokenize(service, body, { key });
    expect(await operationsOn(service, id)).toEqual(['create', 'reveal', 'read']);
  });

  test('an expression that fails is recorded, because the failure reveals something about the value', async ({
    service,
  }) => {
    const { id } = await createPlain(service);
    const answer = await service.call('POST', '/detokenize', `{{ ${id} | to_number }}`);
    expect(answer.status).toBe(400);
    expect(await operationsOn(service, id)).toEqual(['create', 'reveal']);
  });

  test('if a record cannot be written, the response is 503 without data', async ({ service }) => {
    const { id } = await createPlain(service, { data: 'the secret' });
    const failing = vi
      .spyOn(service.vault.recorder, 'now')
      .mockImplementation(() => Promise.reject(new StoreUnavailable('access log', 'full')));
    const answer = await service.call('POST', '/detokenize', [`{{ ${id} }}`]);
    failing.mockRestore();
    expect(answer.status).toBe(503);
    expect(answer.text).not.toContain('the secret');
  });

  test.for([
    ['deleted and created again', 400, 'refers to an unknown token'],
    ['moved to a container where the caller sees less', 403, 'forbidden'],
  ] as const)('a token that is %s after the record is not shown', async ([how, status, text], { service }) => {
    const key = await service.application([
      rule('/open/', 'reveal', ['token:use']),
      rule('/closed/', 'mask', ['token:use']),
    ]);
    const containers = ['/open/'];
    // Together, the tokens are too large to stay decrypted, so the last one is read again after the record.
    const large = { data: 'x'.repeat(450_000), containers };
    const ids = [await createPlain(service, large), await createPlain(service, large)].map(({ id }) => id);
    const last = await createPlain(service, { ...large, id: uniqueId() });
    const { recorder } = service.vault;
    const record = recorder.now;
    const between = vi.spyOn(recorder, 'now').mockImplementationOnce(async (entries) => {
      await record(entries);
      if (how === 'deleted and created again') {
        expect((await service.call('DELETE', path(last.id))).status).toBe(204);
        await createPlain(service, { id: last.id, data: 'new', containers });
      } else {
        expect((await service.call('PATCH', path(last.id), { containers: ['/closed/'] })).status).toBe(200);
      }
    });
    const body = [...ids, last.id].map((id) => `{{ ${id} | size }}`);
    const answer = await service.call('POST', '/detokenize', body, { key });
    between.mockRestore();
    expect(answer.status, answer.text).toBe(status);
    expect(answer.text).toContain(text);
  });

  test('a tokenize is recorded as a create, and as a read of tokens that already existed', async ({ service }) => {
    const [value, token] = (await tokenize(service, ['x', { type: 'token', data: 'y' }])) as [string, { id: string }];
    expect(await operationsOn(service, value)).toEqual(['create']);
    expect(await operationsOn(service, token.id)).toEqual(['create']);
    await tokenize(service, [{ type: 'token', data: 'y', deduplicate_token: true }]);
    expect(await operationsOn(service, token.id)).toEqual(['create', 'reveal']);
  });

  test('a bulk delete is recorded as the deletion of each token', async ({ service }) => {
    const ids = [await createPlain(service), await createPlain(service)].map(({ id }) => id);
    await service.call('POST', '/tokens/delete', { ids });
    for (const id of ids) expect(await operationsOn(service, id)).toEqual(['create', 'delete']);
  });
});
