import { describe, expect } from 'vitest';
import { rule } from '../../../support/test-service.js';
import { operationsOn } from '../list-logs/support.js';
import { createPlain, path, test, uniqueId } from '../support.js';

describe('the access log contains a record of every token that an update returns', () => {
  test('an update that changes nothing is recorded as a read', async ({ service }) => {
    const { id } = await createPlain(service, { metadata: { note: 'a' } });
    const key = await service.application(['token:update'], 'public');
    for (const patch of [{}, { metadata: { note: 'a' } }]) {
      expect((await service.call('PATCH', path(id), patch, { key })).status).toBe(200);
    }
    expect(await operationsOn(service, id)).toEqual(['create', 'read', 'read']);
  });

  test('an update that changes nothing and returns no data is recorded as a read', async ({ service }) => {
    const { id } = await createPlain(service);
    const key = await service.application([rule('/', 'redact', ['token:update'])]);
    await service.call('PATCH', path(id), {}, { key });
    expect(await operationsOn(service, id)).toEqual(['create', 'read']);
  });

  test('an update that changes nothing and returns plaintext is recorded as a reveal', async ({ service }) => {
    const { id } = await createPlain(service);
    const key = await service.application([rule('/', 'reveal', ['token:update'])]);
    await service.call('PATCH', path(id), {}, { key });
    expect(await operationsOn(service, id)).toEqual(['create', 'reveal']);
  });

  test('an update is recorded only as an update, and as a reveal if it returns plaintext', async ({ service }) => {
    const { id } = await createPlain(service);
    const masked = await service.application(['token:update'], 'public');
    const revealed = await service.application([rule('/', 'reveal', ['token:update'])]);
    await service.call('PATCH', path(id), { metadata: { note: 'a' } }, { key: masked });
    expect(await operationsOn(service, id)).toEqual(['create', 'update']);
    await service.call('PATCH', path(id), { metadata: { note: 'b' } }, { key: revealed });
    expect((await operationsOn(service, id)).toSorted()).toEqual(['create', 'reveal', 'update', 'update']);
  });

  test('a retry with the same idempotency key is recorded as a read', async ({ service }) => {
    const { id } = await createPlain(service);
    const key = await service.application(['token:update'], 'public');
    const options = { key, headers: { 'service-idempotency-key': uniqueId() } };
    await service.call('PATCH', path(id), { metadata: { note: 'a' } }, options);
    await service.call('PATCH', path(id), { metadata: { note: 'a' } }, options);
    expect(await operationsOn(service, id)).toEqual(['create', 'update', 'read']);
  });

  test('an update that returns a different token with the same fingerprint is recorded as a read of it', async ({
    service,
  }) => {
    const data = uniqueId();
    const [stored, patched] = [await createPlain(service, { data }), await createPlain(service)];
    const key = await service.application([rule('/', 'mask', ['token:read', 'token:update'])]);
    const answer = await service.call('PATCH', path(patched.id), { data, deduplicate_token: true }, { key });
    expect(answer.body).toMatchObject({ id: stored.id, _extras: { deduplicated: true } });
    expect(await operationsOn(service, stored.id)).toEqual(['create', 'read']);
    expect(await operationsOn(service, patched.id)).toEqual(['create']);
  });
});
