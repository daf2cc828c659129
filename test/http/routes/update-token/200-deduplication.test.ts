import { describe, expect } from 'vitest';
import type { Json } from '#src/domain/json.js';
import { rule } from '../../../support/test-service.js';
import { createPlain, path, read, test, uniqueId } from '../support.js';

describe('200 an update that would give a token the fingerprint of another live token', () => {
  test('returns the other token, and changes neither', async ({ service }) => {
    const other = await createPlain(service, { data: uniqueId() });
    const own = await createPlain(service);
    const before = await service.eventCount();
    const patch = { data: other['data'] as Json, metadata: { a: 'b' }, deduplicate_token: true };
    const answer = await service.call('PATCH', path(own.id), patch);
    expect(answer).toMatchObject({ status: 200, body: { ...other, _extras: { deduplicated: true } } });
    expect(await service.eventCount()).toBe(before);
    expect(await read(service, own.id)).toEqual(own);
  });

  test('shows a caller that may not read the other token no field that depends on its data', async ({ service }) => {
    const secret = { metadata: { a: 'b' }, mask: 'm', search_indexes: ['s'], expires_at: '2031-01-01' };
    const created = await createPlain(service, { data: uniqueId(), containers: ['/other/'], ...secret });
    const { body: other } = await service.call('PATCH', path(created.id), { metadata: { c: 'd' } });
    const own = await createPlain(service);
    const everything = ['token:create', 'token:read', 'token:update', 'token:use', 'token:search'] as const;
    const key = await service.application([rule('/general/', 'reveal', everything)]);
    const patch = { data: other['data'] as Json, deduplicate_token: true };
    const { status, body } = await service.call('PATCH', path(own.id), patch, { key });
    const { data, metadata, fingerprint_expression, search_indexes, mask, entity_ref, ...rest } = other;
    expect(status).toBe(200);
    expect(body).toEqual({ ...rest, _extras: { deduplicated: true } });
  });

  test('gives both tokens the same fingerprint if deduplication is off', async ({ service }) => {
    const other = await createPlain(service, { data: uniqueId() });
    const own = await createPlain(service);
    const answer = await service.call('PATCH', path(own.id), { data: other['data'] as Json });
    expect(answer.body).toMatchObject({ id: own.id, data: other['data'] });
    expect(answer.body['fingerprint']).toBe(other['fingerprint']);
  });

  test('never matches the token itself, and an unchanged fingerprint matches no token', async ({ service }) => {
    const data = uniqueId();
    const [own] = [await createPlain(service, { data }), await createPlain(service, { data })];
    for (const patch of [{ data }, { metadata: { a: 'b' } }, { expires_at: '2031-01-01' }]) {
      const { body } = await service.call('PATCH', path(own.id), { ...patch, deduplicate_token: true });
      expect(body.id).toBe(own.id);
      expect(body).not.toHaveProperty('_extras');
    }
  });

  test('does not match a deleted token', async ({ service }) => {
    const other = await createPlain(service, { data: uniqueId() });
    await service.call('DELETE', path(other.id));
    const own = await createPlain(service);
    const patch = { data: other['data'] as Json, deduplicate_token: true };
    expect((await service.call('PATCH', path(own.id), patch)).body.id).toBe(own.id);
  });

  test('succeeds only once if several simultaneous updates have the same value', async ({ service }) => {
    const data = uniqueId();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => createPlain(service)));
    const patch = { data, deduplicate_token: true };
    const answers = await Promise.all(tokens.map(({ id }) => service.call('PATCH', path(id), patch)));
    expect(answers.map(({ status }) => status)).toEqual(tokens.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const stored = await Promise.all(tokens.map(({ id }) => read(service, id)));
    expect(stored.filter((token) => token['data'] === data).length).toBe(1);
  });

  test('does not leave two tokens with the same fingerprint if a create runs at the same time', async ({ service }) => {
    const data = uniqueId();
    const own = await createPlain(service);
    const body = { type: 'token', data, deduplicate_token: true };
    const [updated, created] = await Promise.all([
      service.call('PATCH', path(own.id), { data, deduplicate_token: true }),
      service.call('POST', '/tokens', body),
    ]);
    expect(updated.body.id, `${updated.text} ${created.text}`).toBe(created.body.id);
  });

  test('returns the other token again in a retry with the same idempotency key', async ({ service }) => {
    const other = await createPlain(service, { data: uniqueId() });
    const own = await createPlain(service);
    const headers = { 'idempotency-key': uniqueId() };
    const patch = { data: other['data'] as Json, deduplicate_token: true };
    const send = async () => (await service.call('PATCH', path(own.id), patch, { headers })).body.id;
    expect(await send()).toBe(other.id);
    // From now on, a new update would store the value in the token itself.
    expect((await service.call('PATCH', path(other.id), { data: uniqueId() })).status).toBe(200);
    expect(await send()).toBe(other.id);
  });
});
