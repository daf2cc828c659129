import { describe, expect } from 'vitest';
import type { Json } from '#src/domain/json.js';
import { rule } from '../../../support/test-service.js';
import { card, create, createPlain, hourMs, path, read, test, uniqueId } from '../support.js';

const deduplicate = { type: 'token', deduplicate_token: true };

describe('201 with deduplication on, a live token with the same fingerprint is returned', () => {
  test('nothing is created or changed, whatever else the request contains', async ({ service }) => {
    const first = await createPlain(service, { data: uniqueId() });
    const before = await service.eventCount();
    const body = { ...deduplicate, id: uniqueId(), data: first['data'] as Json, metadata: { a: 'b' }, mask: 'x' };
    const answer = await service.call('POST', '/tokens', body);
    expect(answer).toMatchObject({ status: 201, headers: { location: path(first.id), etag: '"0"' } });
    expect(answer.body).toEqual({ ...first, _extras: { deduplicated: true } });
    expect(await service.eventCount()).toBe(before);
    expect(await read(service, first.id)).toEqual(first);
  });

  test('deduplication is checked before 409', async ({ service }) => {
    const first = await createPlain(service, { data: uniqueId() });
    const taken = await createPlain(service);
    const body = { ...deduplicate, id: taken.id, data: first['data'] as Json };
    expect((await create(service, body)).id).toBe(first.id);
  });

  test('a cvc in the request is ignored, and the response says so', async ({ service }) => {
    const first = await create(service, { type: 'card', data: { ...card, number: '5555555555554444', cvc: '111' } });
    const data = { ...card, number: '5555555555554444', cvc: '999' };
    const again = await create(service, { type: 'card', data, deduplicate_token: true });
    expect(again).toEqual({ ...first, _extras: { deduplicated: true, cvc_ignored: true } });
    const bare = await create(service, { type: 'card', data: { number: data.number }, deduplicate_token: true });
    expect(bare['_extras']).toEqual({ deduplicated: true });
  });

  test('only tokens of the same type and tenant are duplicates, and the flag applies to one request', async ({
    service,
  }) => {
    const ssn = { type: 'social_security_number', data: '987-12-3456', deduplicate_token: true };
    const first = await create(service, ssn);
    const others = [
      await create(service, { ...ssn, deduplicate_token: false }),
      await create(service, { ...ssn, deduplicate_token: null }),
      await create(service, { ...ssn, deduplicate_token: undefined }),
      await create(service, { ...ssn, type: 'employer_id_number' }),
      await create(service, ssn, { key: await service.otherTenant() }),
    ];
    for (const other of others) {
      expect(other.id).not.toBe(first.id);
      expect(other).not.toHaveProperty('_extras');
    }
  });

  test('a deleted or expired token is not a duplicate', async ({ service }) => {
    const data = uniqueId();
    const deleted = await createPlain(service, { data });
    await service.call('DELETE', path(deleted.id));
    const expires_at = new Date(service.clock.now() + hourMs).toISOString();
    const expiring = await create(service, { ...deduplicate, data, expires_at });
    expect(expiring).not.toHaveProperty('_extras');
    service.clock.advance(hourMs);
    const living = await create(service, { ...deduplicate, data });
    expect(living.id).not.toBe(expiring.id);
    expect((await create(service, { ...deduplicate, data })).id).toBe(living.id);
  });

  test('invalid requests are still rejected', async ({ service }) => {
    const first = await createPlain(service, { data: uniqueId() });
    const body = { ...deduplicate, data: first['data'] as Json, id: 'a' };
    expect((await service.call('POST', '/tokens', body)).status).toBe(400);
  });
});

describe('201 a duplicate', () => {
  test('a caller that may not read it sees only the fields that identify it, and when it expires', async ({
    service,
  }) => {
    const data = uniqueId();
    const secret = { metadata: { a: 'b' }, mask: '{{ data }}', containers: ['/other/'], expires_at: '2030-01-01' };
    const first = await createPlain(service, { data, ...secret });
    const names = {
      id: first.id,
      type: 'token',
      tenant_id: service.tenantId,
      containers: ['/other/'],
      fingerprint: first['fingerprint'],
      expires_at: first['expires_at'],
    };
    const callers = [
      await service.application(['token:create'], 'public'),
      await service.application(['token:create', 'token:use']),
      await service.application([rule('/general/', 'reveal', ['token:create', 'token:read'])]),
    ];
    for (const key of callers) {
      const answer = await create(service, { ...deduplicate, data }, { key });
      expect(answer).toEqual({ ...names, _extras: { deduplicated: true } });
    }
  });

  test('a caller that may read it sees what its transform for reading shows', async ({ service }) => {
    const data = uniqueId();
    const first = await createPlain(service, { data, mask: '{{ data | reveal_last: 0 }}' });
    const plain = await service.application(['token:create', 'token:read']);
    const masked = { ...first, data: data.replaceAll(/[^-]/g, 'X'), _extras: { deduplicated: true } };
    expect(await create(service, { ...deduplicate, data }, { key: plain })).toEqual(masked);
    const redact = rule('/', 'redact', ['token:read', 'token:create']);
    const redacting = await service.application([redact]);
    const redacted = await create(service, { ...deduplicate, data }, { key: redacting });
    expect(redacted).toEqual({ ...first, data: undefined, _extras: { deduplicated: true } });
  });
});

describe('201 with concurrent requests', () => {
  test('50 concurrent equal creates result in one token', async ({ service }) => {
    const data = uniqueId();
    const before = await service.eventCount();
    const bodies = Array.from({ length: 50 }, (_, i) => ({ ...deduplicate, id: `${uniqueId()}-${i}`, data }));
    const created = await Promise.all(bodies.map((body) => create(service, body)));
    expect(new Set(created.map(({ id }) => id)).size).toBe(1);
    expect(created.filter((token) => token['_extras'] === undefined).length).toBe(1);
    expect(await service.eventCount()).toBe(before + 1);
  });
});
