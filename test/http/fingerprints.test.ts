import { describe, expect, test as plainTest } from 'vitest';
import type { Json } from '#src/domain/json.js';
import { rule, startTestService, type TestService } from '../support/test-service.js';
import { card, create, createPlain, path, read, test, uniqueId } from './routes/support.js';

const all = ['token:create', 'token:read', 'token:search', 'token:update', 'token:use'] as const;
const below = (service: TestService, transform: 'mask' | 'redact') => service.application([rule('/', transform, all)]);

/** Requests the token in every way that can show it to a caller that did not send its value. Returns the responses. */
async function shownTo(service: TestService, key: string, id: string): Promise<readonly string[]> {
  const answers = await Promise.all([
    service.call('GET', path(id), undefined, { key }),
    service.call('GET', `/tokens?id=${encodeURIComponent(id)}`, undefined, { key }),
    service.call('POST', '/tokens/search', { query: `id:"${id}"` }, { key }),
    service.call('POST', '/detokenize', `{{ token: ${id} }}`, { key }),
  ]);
  for (const { status, text } of answers) expect(status, text).toBe(200);
  return answers.map(({ text }) => text);
}

describe('a caller below reveal sees no fingerprint, because it could test candidates against it', () => {
  test.for(['mask', 'redact'] as const)(
    'with the transform %s, get, list, search and detokenize show none',
    async (transform, { service }) => {
      const { id, ...created } = await create(service, { type: 'card', data: card });
      const fingerprint = String(created['fingerprint']);
      expect(fingerprint).toMatch(/^\w{43,44}$/);
      for (const text of await shownTo(service, await below(service, transform), id)) {
        expect(text).not.toContain(fingerprint);
      }
      for (const text of await shownTo(service, service.key, id)) expect(text).toContain(fingerprint);
    },
  );

  test('the response to a create shows the fingerprint of the sent value, even if a duplicate is returned', async ({
    service,
  }) => {
    const key = await below(service, 'mask');
    const data = uniqueId();
    const first = await create(service, { type: 'token', data, deduplicate_token: true }, { key });
    const second = await create(service, { type: 'token', data, deduplicate_token: true }, { key });
    expect(second).toMatchObject({ id: first.id, fingerprint: first['fingerprint'] });
    expect(first['fingerprint']).toMatch(/^\w{43,44}$/);
  });

  const rows: readonly (readonly [string, object, object, boolean])[] = [
    ['nothing', { type: 'card', data: card }, {}, false],
    ['another part of the data', { type: 'card', data: card }, { data: { expiration_month: 1 } }, false],
    ['only metadata', { type: 'card', data: card }, { metadata: { a: 'b' } }, false],
    ['the number', { type: 'card', data: card }, { data: { number: '5555555555554444' } }, true],
    ['a whole string', { type: 'token', data: 'a' }, { data: 'b' }, true],
    ['part of an object', { type: 'token', data: { a: 'secret', b: 1 } }, { data: { b: 2 } }, false],
    ['a whole object', { type: 'token', data: { a: 'secret', b: 1 } }, { data: { a: 'x', b: 2 } }, true],
    [
      'one of two values that the expression reads',
      { type: 'token', data: { a: 'secret', b: 1 }, fingerprint_expression: '{{ data.b }}{{ data.a }}' },
      { data: { b: 2 } },
      false,
    ],
    [
      'the input but not the argument of a filter',
      { type: 'token', data: { a: 'secret', b: 'x' }, fingerprint_expression: '{{ data.b | append: data.a }}' },
      { data: { b: 'y' } },
      false,
    ],
    [
      'an object but not the value that selects its member',
      { type: 'token', data: { a: { x: 1, y: 2 }, b: 'y' }, fingerprint_expression: '{{ data.a[data.b] }}' },
      { data: { a: { x: 3, y: 4 } } },
      false,
    ],
    [
      'the selecting value but not the member that it selects',
      { type: 'token', data: { b: 'y', y: { c: 'secret' } }, fingerprint_expression: '{{ data[data.b].c }}' },
      { data: { b: 'y', c: 'x' } },
      false,
    ],
    [
      'the data but not the metadata',
      { type: 'token', data: 'a', metadata: { k: 'v' }, fingerprint_expression: '{{ data }}{{ metadata.k }}' },
      { data: 'b' },
      false,
    ],
    [
      'one value, and not that a value with an inherited name is missing',
      { type: 'token', data: { a: 1 }, fingerprint_expression: '{{ data.a }}{{ data.constructor }}' },
      { data: { a: 2 } },
      false,
    ],
    [
      'the data, and null for the metadata',
      { type: 'token', data: 'a', metadata: { k: 'v' }, fingerprint_expression: '{{ data }}{{ metadata.k }}' },
      { data: 'b', metadata: { k: null } },
      true,
    ],
    [
      'the number, and the month as text',
      { type: 'card', data: card, fingerprint_expression: '{{ data.number }}{{ data.expiration_month }}' },
      { data: { number: '5555555555554444', expiration_month: '03' } },
      true,
    ],
    [
      'an array whose last item is read',
      { type: 'token', data: ['a', 'secret'], fingerprint_expression: '{{ data[-1] }}' },
      { data: ['b', 'c'] },
      true,
    ],
    [
      'an array whose first item is read by a text',
      { type: 'token', data: ['secret', 'a'], fingerprint_expression: '{{ data["0"] }}' },
      { data: ['b', 'c'] },
      true,
    ],
    [
      'a member whose name is a number',
      { type: 'token', data: { 1: 'secret', a: 1 }, fingerprint_expression: '{{ data[1] }}' },
      { data: { 1: 'x' } },
      true,
    ],
  ];
  test.for(rows)(
    'an update that contains %s shows the fingerprint only if it contains all fingerprinted values',
    async ([, fields, patch, isShown], { service }) => {
      const { id } = await create(service, fields);
      const key = await below(service, 'mask');
      const { status, text, body } = await service.call('PATCH', path(id), patch, { key });
      expect(status, text).toBe(200);
      expect('fingerprint' in body).toBe(isShown);
      if (isShown) expect(body['fingerprint']).toBe((await read(service, id))['fingerprint']);
    },
  );

  test('an update that finds a duplicate must contain every value that its fingerprint reads', async ({ service }) => {
    const key = await below(service, 'mask');
    const expression = '{{ data.a }}|{{ data.b }}';
    const make = (data: Json) =>
      create(service, { type: 'token', data, fingerprint_expression: expression, mask: 'masked' });
    const a = uniqueId();
    await make({ a, b: 1 });
    const own = await make({ a, b: 2 });
    const update = (data: Json) => service.call('PATCH', path(own.id), { data, deduplicate_token: true }, { key });
    const partly = await update({ b: 1 });
    expect(partly.body).toMatchObject({ code: 'reveal_required' });
    expect(partly.text).not.toContain('fingerprint":');
    expect((await update({ a, b: 1 })).body).toMatchObject({
      fingerprint: expect.any(String),
      _extras: { deduplicated: true },
    });
  });

  test('a retried request shows the fingerprint only while the token contains what the first request sent', async ({
    service,
  }) => {
    const key = await below(service, 'mask');
    const headers = { 'idempotency-key': uniqueId() };
    const send = () => service.call('POST', '/tokens', { type: 'token', data: 'own' }, { key, headers });
    const first = await send();
    expect((await send()).body['fingerprint']).toBe(first.body['fingerprint']);
    const id = String(first.body['id']);
    await service.call('PATCH', path(id), { data: 'a secret of somebody else' });
    const repeated = await send();
    expect(repeated.body['id']).toBe(id);
    expect(repeated.body).not.toHaveProperty('fingerprint');
  });

  test('a retry with another body shows no fingerprint, because the caller may not know the value', async ({
    service,
  }) => {
    const key = await service.application(['token:create', 'token:update'], 'public');
    const number = '4242424242424242';
    const body = { type: 'card', data: { number } };
    const others = [
      { type: 'token', data: 1 },
      { type: 'card', data: { number: '5555555555554444' } },
      { type: 'card', data: { number: 'x' } },
      { ...body, fingerprint_expression: '{{ data.name }}' },
    ];
    const same = [body, { type: 'card', data: { number, cvc: '123' }, mask: null }];
    for (const deduplicate_token of [false, true]) {
      const headers = { 'idempotency-key': uniqueId() };
      const send = (sent: object) => create(service, { ...sent, deduplicate_token }, { key, headers });
      const { id, fingerprint } = await send(body);
      expect(fingerprint).toMatch(/^\w{43,44}$/);
      for (const other of others) {
        const again = await send(other);
        expect(again.id).toBe(id);
        expect(again).not.toHaveProperty('fingerprint');
      }
      for (const equal of same) expect(await send(equal)).toMatchObject({ id, fingerprint });
    }
    const headers = { 'idempotency-key': uniqueId() };
    const { id } = await create(service, body);
    const patch = async (data: object) => (await service.call('PATCH', path(id), { data }, { key, headers })).body;
    const { fingerprint } = await patch({ number: '5555555555554444' });
    expect(fingerprint).toMatch(/^\w{43,44}$/);
    for (const data of [{ number }, {}]) expect(await patch(data)).not.toHaveProperty('fingerprint');
    expect(await patch({ number: '5555555555554444' })).toMatchObject({ id, fingerprint });
  });

  test('a caller that sees the value gets the fingerprint in a retry with any body', async ({ service }) => {
    const key = await service.application(['token:create', 'token:use']);
    const headers = { 'idempotency-key': uniqueId() };
    const { fingerprint } = await create(service, { type: 'card', data: card }, { key, headers });
    expect(await create(service, { type: 'token', data: 1 }, { key, headers })).toMatchObject({ fingerprint });
  });

  test('a retried update shows the fingerprint of metadata, even if the patch also removes some', async ({
    service,
  }) => {
    const expression = { fingerprint_expression: '{{ metadata.customer }}', metadata: { customer: 'a', old: 'b' } };
    const { id } = await createPlain(service, { data: 'secret', ...expression });
    const key = await below(service, 'mask');
    const headers = { 'idempotency-key': uniqueId() };
    const send = async () =>
      (await service.call('PATCH', path(id), { metadata: { customer: 'b', old: null } }, { key, headers })).body;
    const { fingerprint } = await send();
    expect(fingerprint).toMatch(/^\w{43,44}$/);
    expect(await send()).toMatchObject({ id, fingerprint });
  });

  test('a retried update shows the fingerprint only if the first request contained the value', async ({ service }) => {
    const { id } = await createPlain(service, { data: 'secret' });
    const key = await below(service, 'mask');
    const send = (patch: object, idempotencyKey: string) =>
      service.call('PATCH', path(id), patch, { key, headers: { 'idempotency-key': idempotencyKey } });
    for (const [patch, isShown] of [
      [{ metadata: { a: 'b' } }, false],
      [{ data: 'own' }, true],
    ] as const) {
      const repeated = uniqueId();
      expect('fingerprint' in (await send(patch, repeated)).body).toBe(isShown);
      expect('fingerprint' in (await send(patch, repeated)).body).toBe(isShown);
    }
  });
});

plainTest(
  'a tenant may show fingerprints to every caller that reads, and the response warns about the consequences',
  async () => {
    const service = await startTestService();
    const key = await below(service, 'redact');
    const { id, ...created } = await create(service, { type: 'card', data: card });
    const put = (value: string) =>
      service.call(
        'PUT',
        '/tenants/self',
        { name: 'test', settings: { show_fingerprints: value } },
        { key: service.managementKey },
      );
    const enabled = await put('true');
    expect(enabled.body['settings']).toMatchObject({ show_fingerprints: 'true' });
    expect(String(enabled.body['_warnings'])).toMatch(/trying candidates/);
    const got = await service.call('GET', '/tenants/self', undefined, { key: service.managementKey });
    expect(got.body['_warnings']).toEqual(enabled.body['_warnings']);
    const [get, list, search] = await shownTo(service, key, id);
    for (const text of [get, list, search]) expect(text).toContain(created['fingerprint']);

    // An application that may change tokens but not read them learns nothing new from its changes.
    const writer = await service.application(['token:create', 'token:update'], 'public');
    const updated = await service.call('PATCH', path(id), {}, { key: writer });
    expect([updated.status, updated.text.includes(String(created['fingerprint']))]).toEqual([200, false]);
    const retried = { key: writer, headers: { 'Idempotency-Key': 'create' } };
    const own = await service.call('POST', '/tokens', { type: 'token', data: 'a' }, retried);
    const changed = await service.call('PATCH', path(String(own.body['id'])), { data: 'b' });
    const again = await service.call('POST', '/tokens', { type: 'token', data: 'a' }, retried);
    expect([changed.status, again.status, again.body['id']]).toEqual([200, 201, own.body['id']]);
    expect(again.body).not.toHaveProperty('fingerprint');

    expect((await put('false')).body).not.toHaveProperty('_warnings');
    for (const text of await shownTo(service, key, id)) expect(text).not.toContain(created['fingerprint']);
    await service.close();
  },
);
