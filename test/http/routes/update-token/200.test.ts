import { describe, expect } from 'vitest';
import type { Json, JsonObject } from '#src/domain/json.js';
import { card, create, createPlain, eventsSince, hourMs, path, read, test } from '../support.js';

const mergePatch = 'application/merge-patch+json';

describe('200 data, mask and metadata are merged (RFC 7386)', () => {
  const rows: readonly (readonly [before: Json, patch: Json, after: Json])[] = [
    [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: null }, { b: 2 }],
    [{ a: { b: 1, c: 2 } }, { a: { b: null, d: 3 } }, { a: { c: 2, d: 3 } }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: 'x' }, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
    ['text', { a: 1, b: null }, { a: 1 }],
    [{ a: 1 }, 'text', 'text'],
    [{ a: 1 }, [null], [null]],
    [{ a: 1 }, false, false],
    [{ a: null }, { b: 1 }, { a: null, b: 1 }],
    [{ constructor: 1 }, { toString: 2 }, { constructor: 1, toString: 2 }],
  ];

  test.for(rows)('data %j, patched with %j, becomes %j', async ([data, patch, after], { service }) => {
    const { id } = await createPlain(service, { data });
    const { status, body, text } = await service.call('PATCH', path(id), { data: patch });
    expect(status, text).toBe(200);
    expect(body['data']).toEqual(after);
    expect(await read(service, id)).toEqual(body);
  });

  test('a mask and metadata are merged', async ({ service }) => {
    const mask = { a: '{{ data.a }}', b: 'b' };
    const { id } = await createPlain(service, { data: { a: 1 }, mask, metadata: { a: '1', b: '2' } });
    const patch = { mask: { b: null, c: { d: 'd' } }, metadata: { a: null, b: '3', c: '4' } };
    const { body } = await service.call('PATCH', path(id), patch);
    expect(body).toMatchObject({ mask: { a: '{{ data.a }}', c: { d: 'd' } }, metadata: { b: '3', c: '4' } });
    expect(body['metadata']).toEqual({ b: '3', c: '4' });
    const replaced = await service.call('PATCH', path(id), { mask: 'text' });
    expect(replaced.body['mask']).toBe('text');
    expect(await read(service, id, await service.application(['token:read']))).toMatchObject({ data: 'text' });
  });

  test('a field is created if the token does not have it yet', async ({ service }) => {
    const { id } = await createPlain(service);
    const { body } = await service.call('PATCH', path(id), {
      mask: { a: 'b', c: null },
      metadata: { a: 'b', c: null },
    });
    expect(body['mask']).toEqual({ a: 'b' });
    expect(body['metadata']).toEqual({ a: 'b' });
  });
});

describe('200 the other fields are replaced', () => {
  test('everything that is derived from the data is replaced with the data', async ({ service }) => {
    const created = await createPlain(service, { data: { a: 1, b: 2 }, containers: ['/a/'], search_indexes: ['x'] });
    service.clock.advance(1_500);
    const patch = {
      containers: ['/B/', '/b/'],
      search_indexes: ['{{ data.b }}'],
      fingerprint_expression: '{{ data.b }}',
      expires_at: '1/1/2031 1:00:00 AM +01:00',
      deduplicate_token: false,
    };
    const { body, headers } = await service.call('PATCH', path(created.id), patch);
    expect(body).toEqual({
      ...created,
      containers: ['/b/'],
      search_indexes: ['{{ data.b }}'],
      fingerprint_expression: '{{ data.b }}',
      fingerprint: expect.not.stringMatching(String(created['fingerprint'])),
      expires_at: '2031-01-01T00:00:00.000+00:00',
      modified_by: created['created_by'],
      modified_at: new Date(service.clock.now()).toISOString().replace('Z', '+00:00'),
    });
    expect(headers).toMatchObject({ etag: '"1"', 'cache-control': 'no-store' });
    expect(body).not.toHaveProperty('deduplicate_token');
  });

  test('the fingerprint changes with the data and metadata that its expression names', async ({ service }) => {
    const token = { data: { a: 1 }, metadata: { m: 'x' }, fingerprint_expression: '{{ data.a }}{{ metadata.m }}' };
    const { id, ...created } = await createPlain(service, token);
    const fingerprints = [created['fingerprint']];
    for (const patch of [{ data: { a: 2 } }, { metadata: { m: 'y' } }, { data: { a: 1 }, metadata: { m: 'x' } }]) {
      fingerprints.push((await service.call('PATCH', path(id), patch)).body['fingerprint'] as Json);
    }
    expect(new Set(fingerprints.slice(0, 3)).size).toBe(3);
    expect(fingerprints[3]).toBe(fingerprints[0]);
  });
});

describe('200 null sets a field to its default or removes it', () => {
  const custom = {
    mask: 'x',
    containers: ['/x/'],
    search_indexes: ['x'],
    fingerprint_expression: 'x',
    metadata: { a: 'b' },
    expires_at: '2031-01-01',
  };
  const none = Object.fromEntries(Object.keys(custom).map((field) => [field, null]));

  test.for([
    { type: 'token', data: { a: 1 } },
    { type: 'card', data: { number: '4242424242424242' } },
    { type: 'social_security_number', data: '123-45-6789' },
  ])('$type', async (token, { service }) => {
    const { id: _, created_at: __, entity_ref: ___, ...plain } = await create(service, token);
    const { id } = await create(service, { ...token, ...custom });
    const { status, body, text } = await service.call('PATCH', path(id), { ...none, deduplicate_token: null });
    expect(status, text).toBe(200);
    expect(body).toEqual({ ...body, ...plain });
    expect(Object.keys(body).sort()).toEqual(
      [...Object.keys(plain), 'id', 'entity_ref', 'created_at', 'modified_by', 'modified_at'].sort(),
    );
  });
});

describe('200 a patch that changes nothing appends nothing', () => {
  test('a patch with -0, which is stored as 0', async ({ service }) => {
    const created = await createPlain(service, { data: { a: 0 }, mask: 0 });
    const before = await service.eventCount();
    const raw = '{"data":{"a":-0},"mask":-0.0}';
    const answer = await service.call('PATCH', path(created.id), undefined, { raw });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers['etag']).toBe('"0"');
    expect(await service.eventCount()).toBe(before);
  });

  const token = { type: 'card', data: { number: '4242424242424242', name: 'A' }, metadata: { a: 'b' } };

  test.for<JsonObject>([
    {},
    { unknown: 1, privacy: {} },
    { type: 'card' },
    { data: {} },
    { data: { name: 'A', none: null, cvc: null } },
    { data: { expiration_month: null } },
    { metadata: { a: 'b', c: null } },
    { mask: null, containers: null, search_indexes: null, fingerprint_expression: null, expires_at: null },
    { mask: { number: '{{ data.number | reveal_last: 4 }}' }, containers: ['/PCI/high/'] },
  ])('%j', async (patch, { service }) => {
    const created = await create(service, token);
    const before = await service.eventCount();
    service.clock.advance(1);
    const answer = await service.call('PATCH', path(created.id), { ...patch, id: created.id });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers['etag']).toBe('"0"');
    expect(answer.body).toEqual(created);
    expect(await service.eventCount()).toBe(before);
  });

  test('an empty list of indexes appends nothing if the token has no indexes by choice', async ({ service }) => {
    const { id } = await createPlain(service, { search_indexes: [] });
    const answer = await service.call('PATCH', `${path(id)}/`, { search_indexes: [] });
    expect(answer).toMatchObject({ status: 200, headers: { etag: '"0"' } });
  });
});

test('an empty list or map is a value, so it changes a token without the field, and null removes it', async ({
  service,
}) => {
  const { id } = await create(service, { type: 'token', data: 'value' });
  const shown = async (patch: JsonObject) => {
    const { headers, body } = await service.call('PATCH', path(id), patch);
    expect(await read(service, id)).toEqual(body);
    return [headers['etag'], body['search_indexes'], body['metadata']];
  };
  expect(await shown({ search_indexes: [] })).toEqual(['"1"', [], undefined]);
  expect(await shown({ metadata: {} })).toEqual(['"2"', [], {}]);
  expect(await shown({ search_indexes: [], metadata: {} })).toEqual(['"2"', [], {}]);
  expect(await shown({ search_indexes: null })).toEqual(['"3"', undefined, {}]);
  expect(await shown({ metadata: null })).toEqual(['"4"', undefined, undefined]);
});

describe('200 the result of a patch is normalized and checked by its type', () => {
  test('a new number keeps the other fields, including the cvc', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: { ...card, name: 'A' } });
    const patch = { data: { number: '5555555555554444', expiration_month: '03' } };
    const { body } = await service.call('PATCH', path(id), patch);
    expect(body['data']).toEqual({ ...card, name: 'A', number: '5555555555554444', expiration_month: 3 });
    expect(await read(service, id)).toEqual(body);
  });

  test('a masked caller gets the mask of the new data', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: card });
    const key = await service.application(['token:update']);
    const { body } = await service.call('PATCH', path(id), { data: { number: '5555555555554444' } }, { key });
    expect(body['data']).toEqual({ number: 'XXXXXXXXXXXX4444', expiration_month: 12, expiration_year: 2030 });
  });

  test('replaced data is erased, because its key is destroyed', async ({ service }) => {
    const before = await service.eventCount();
    const { id } = await createPlain(service);
    await service.call('PATCH', path(id), { metadata: { a: 'b' } });
    await service.call('PATCH', path(id), { data: 'new' });
    const [created, kept, replaced] = await eventsSince(service, before);
    expect(kept?.clear).toMatchObject({ changed: ['metadata'], key: created?.clear['key'], ends: [] });
    expect(replaced?.clear).toMatchObject({ changed: ['data'], ends: [created?.clear['key']] });
    const keyOf = (event: typeof created) => String(event?.clear['key']);
    const stateOf = (key: string) => service.vault.keys.use(service.tenantId, key, () => null);
    expect((await stateOf(keyOf(created))).state).toBe('destroyed');
    expect((await stateOf(keyOf(replaced))).state).toBe('open');
  });
});

describe('200 headers of an update', () => {
  test.for([`${mergePatch}; charset=UTF-8`, `${mergePatch} ;v=1`, mergePatch.toUpperCase()])(
    'parameters of the media type are accepted, and its case is ignored: %s',
    async (type, { service }) => {
      const { id } = await createPlain(service);
      const headers = { 'content-type': type };
      expect((await service.call('PATCH', path(id), { data: 1 }, { headers })).status).toBe(200);
    },
  );

  test.for(['"0"', '*', ' * ', '"7", "0"', 'W/"0","0"', '"a,b","0"'])('If-Match %s', async (ifMatch, { service }) => {
    const { id } = await createPlain(service);
    const answer = await service.call('PATCH', path(id), { data: 1 }, { headers: { 'if-match': ifMatch } });
    expect(answer).toMatchObject({ status: 200, headers: { etag: '"1"' } });
  });
});

describe('200 expires_at', () => {
  test('is kept by other changes and is changed by a patch; an expiry that was removed never takes effect', async ({
    service,
  }) => {
    const at = (hours: number) => new Date(service.clock.now() + hours * hourMs).toISOString();
    const { id, ...created } = await createPlain(service, { expires_at: at(1) });
    const kept = await service.call('PATCH', path(id), { data: 'x' });
    expect(kept.body['expires_at']).toBe(created['expires_at']);
    await service.call('PATCH', path(id), { expires_at: at(2) });
    service.clock.advance(hourMs);
    await service.service.sweep.run();
    expect((await service.call('GET', path(id))).status).toBe(200);
    const removed = await service.call('PATCH', path(id), { expires_at: null });
    expect(removed.body).not.toHaveProperty('expires_at');
    service.clock.advance(10 * hourMs);
    await service.service.sweep.run();
    expect((await service.call('GET', path(id))).status).toBe(200);
  });
});
