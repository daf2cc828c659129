import { describe, expect } from 'vitest';
import { create, read, test, uniqueId } from '../support.js';

describe('201 the response', () => {
  test('has exactly the fields that have a value', async ({ service }) => {
    const bare = await create(service, { type: 'token', data: 'x' });
    expect(bare).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      tenant_id: service.tenantId,
      type: 'token',
      data: 'x',
      fingerprint: expect.any(String),
      containers: ['/general/high/'],
      fingerprint_expression: '{{ data | stringify }}',
      entity_ref: expect.stringMatching(/^[0-9a-f]{64}$/),
      created_by: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: new Date(service.clock.now()).toISOString().replace('Z', '+00:00'),
    });
    const id = uniqueId();
    const full = {
      id,
      type: 'token',
      data: { a: 1 },
      mask: { a: '{{ data.a }}' },
      containers: ['/a/', '/b/c-d_E/'],
      metadata: { k: 'v', empty: '' },
      search_indexes: ['{{ data.a }}'],
      fingerprint_expression: '{{ data.a }}',
      expires_at: '2030-01-01T00:00:00Z',
    };
    expect(await create(service, full)).toEqual({
      ...full,
      containers: ['/a/', '/b/c-d_e/'],
      expires_at: '2030-01-01T00:00:00.000+00:00',
      tenant_id: service.tenantId,
      fingerprint: expect.any(String),
      entity_ref: expect.stringMatching(/^[0-9a-f]{64}$/),
      created_by: expect.any(String),
      created_at: expect.any(String),
    });
  });

  test('must not be cached, and has a Location, an entity tag and a trace id', async ({ service }) => {
    const id = uniqueId('a b');
    const headers = { 'service-trace-id': 'my.trace_1-A' };
    const answer = await service.call('POST', '/tokens/', { id, type: 'token', data: 1 }, { headers });
    expect(answer.status).toBe(201);
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      etag: '"0"',
      location: `/tokens/${id.replace(' ', '%20')}`,
      'service-trace-id': 'my.trace_1-A',
    });
  });

  test('ignores unknown fields, and accepts parameters of the media type', async ({ service }) => {
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' };
    const body = { type: 'token', data: 1, privacy: { impact_level: 'high' }, encryption: null, tenant_id: 'x' };
    const created = await create(service, body, { headers });
    expect(created).not.toHaveProperty('privacy');
    expect(created['tenant_id']).toBe(service.tenantId);
  });

  test('uses the last one of duplicate keys', async ({ service }) => {
    const raw = '{"type":"card","data":1,"type":"token","data":{"a":1,"a":2}}';
    const answer = await service.call('POST', '/tokens', undefined, { raw });
    expect(answer).toMatchObject({ status: 201, body: { type: 'token', data: { a: 2 } } });
  });
});

describe('201 null in an optional field means that the field is absent', () => {
  const nulls = {
    id: null,
    mask: null,
    containers: null,
    metadata: null,
    search_indexes: null,
    fingerprint_expression: null,
    deduplicate_token: null,
    expires_at: null,
  };

  test.for([
    { type: 'token', data: { a: 1 } },
    { type: 'social_security_number', data: '123-45-6789' },
    { type: 'card', data: { number: '4242424242424242' } },
  ])('$type', async (token, { service }) => {
    const { id: _, entity_ref: __, ...absent } = await create(service, token);
    const { id, entity_ref: ___, ...given } = await create(service, { ...token, ...nulls });
    expect(given).toEqual(absent);
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('201 normalization, and values at the limits', () => {
  test('containers are changed to lower case and duplicates removed; ten are allowed, not counting duplicates', async ({
    service,
  }) => {
    const ten = Array.from({ length: 10 }, (_, i) => `/c${i}/`);
    const created = await create(service, { type: 'token', data: 1, containers: [...ten, '/C0/', '/c9/'] });
    expect(created['containers']).toEqual(ten);
    expect(await create(service, { type: 'token', data: 1, containers: ['/'] })).toMatchObject({ containers: ['/'] });
  });

  test('an empty list of search_indexes means no indexes, even if the type has default indexes', async ({
    service,
  }) => {
    const none = { type: 'social_security_number', data: '123-45-6789', search_indexes: [] };
    expect(await create(service, none)).toMatchObject({ search_indexes: [] });
  });

  test('an index of a token of any type may be a number or a boolean', async ({ service }) => {
    const search_indexes = ['{{ data.n }}', '{{ data.yes }}', 'literal'];
    await create(service, { type: 'token', data: { n: 0, yes: false }, search_indexes });
    const card = { type: 'card', data: { number: '4242424242424242' }, search_indexes: ['{{ data.number | last4 }}'] };
    expect(await create(service, card)).toMatchObject({ search_indexes: card.search_indexes });
  });

  test('the largest metadata, the most indexes, the longest index, and a container of 200 characters', async ({
    service,
  }) => {
    const entries = Array.from({ length: 50 }, (_, i) => [`${'🔑'.repeat(98)}${10 + i}`, '💳'.repeat(1_000)]);
    const metadata = Object.fromEntries(entries);
    const search_indexes = ['{{ data }}', ...Array.from({ length: 9 }, (_, i) => `${i}`.padEnd(400, 'x'))];
    const containers = [`/${'c'.repeat(198)}/`];
    const token = { type: 'token', data: '💳'.repeat(500), metadata, search_indexes, containers };
    expect(await create(service, token)).toMatchObject({ metadata, search_indexes, containers });
  });

  test('content of 512 KiB, nearly all of it data', async ({ service }) => {
    const data = 'x'.repeat(512 * 1024 - 300);
    const { id } = await create(service, { type: 'token', data, fingerprint_expression: 'one' });
    expect((await read(service, id))['data']).toBe(data);
  });

  test('nesting of 64 levels, counting the body itself', async ({ service }) => {
    const raw = `{"type":"token","data":${'['.repeat(63)}${']'.repeat(63)}}`;
    const answer = await service.call('POST', '/tokens', undefined, { raw });
    expect(answer.status, answer.text).toBe(201);
  });
});
