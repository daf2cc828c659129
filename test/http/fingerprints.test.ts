import { describe, expect, test as plainTest } from 'vitest';
import type { Json } from '#src/domain/json.js';
import { rule, startTestService, type TestService } from '../support/test-service.js';
import { card, create, createPlain, path, read, test, uniqueId } from './routes/support.js';

const all = ['token:create', 'token:read', 'token:search', 'token:update', 'token:use'] as const;
const below = (service: TestService, transform: 'mask' | 'redact') => service.application([rule('/', transform, all)]);

const bank = { routing_number: '021000021', account_number: '123456' };
const bankExpression = '{{ data.account_number }}|{{ data.name }}';

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
    [
      'one value, and null for the other',
      { type: 'token', data: { a: 'secret', b: 1 }, fingerprint_expression: '{{ data.a }}|{{ data.b }}' },
      { data: { a: null, b: 2 } },
      true,
    ],
    [
      'only null for one of two values',
      { type: 'token', data: { a: 1, b: 'secret' }, fingerprint_expression: '{{ data.a }}|{{ data.b }}' },
      { data: { a: null } },
      false,
    ],
    [
      'null for the object that contains the value',
      { type: 'token', data: { p: { a: 'secret' }, b: 1 }, fingerprint_expression: '{{ data.p.a }}|{{ data.b }}' },
      { data: { p: null, b: 2 } },
      true,
    ],
    [
      'a value that replaces the object that contains the value',
      { type: 'token', data: { p: { a: 'secret' }, b: 1 }, fingerprint_expression: '{{ data.p.a }}|{{ data.b }}' },
      { data: { p: 'x', b: 2 } },
      true,
    ],
    [
      'an array that is too short for the item that is read',
      { type: 'token', data: { p: [1, 'secret'], b: 1 }, fingerprint_expression: '{{ data.p[1] }}|{{ data.b }}' },
      { data: { p: [null], b: 2 } },
      true,
    ],
    [
      'an array with null for the item that is read',
      { type: 'token', data: { p: ['secret'], b: 1 }, fingerprint_expression: '{{ data.p[0].a }}|{{ data.b }}' },
      { data: { p: [null], b: 2 } },
      true,
    ],
    [
      'null for another member of the object that contains the value',
      {
        type: 'token',
        data: { p: { a: 'secret', c: 1 }, b: 1 },
        fingerprint_expression: '{{ data.p.a }}|{{ data.b }}',
      },
      { data: { p: { c: null }, b: 2 } },
      false,
    ],
    [
      'null for a member of an object that is read as a whole and has hidden members',
      {
        type: 'token',
        data: { p: { a: 'secret', c: 1 }, b: 1 },
        fingerprint_expression: '{{ data.p | stringify }}|{{ data.b }}',
      },
      { data: { p: { c: null }, b: 2 } },
      false,
    ],
    [
      'null for a value next to a hidden one in data that is read as a whole',
      { type: 'token', data: { a: 'secret', b: 1 } },
      { data: { b: null } },
      false,
    ],
    [
      'null for the value that selects a hidden member',
      {
        type: 'token',
        data: { a: 'x', x: 'secret', b: 1 },
        fingerprint_expression: '{{ data[data.a] }}|{{ data.b }}',
      },
      { data: { a: null, b: 2 } },
      false,
    ],
    [
      'null in the metadata for a value of the data',
      { type: 'token', data: { a: 'secret', b: 1 }, fingerprint_expression: '{{ data.a }}|{{ data.b }}' },
      { data: { b: 2 }, metadata: { a: null } },
      false,
    ],
    [
      'the data, and null for all metadata',
      { type: 'token', data: 'a', metadata: { k: 'v' }, fingerprint_expression: '{{ data }}{{ metadata.k }}' },
      { data: 'b', metadata: null },
      true,
    ],
    [
      'null for all metadata, but not the data',
      { type: 'token', data: 'secret', metadata: { k: 'v' }, fingerprint_expression: '{{ data }}{{ metadata.k }}' },
      { metadata: null },
      false,
    ],
    [
      'a value and a null in metadata that is read as a whole',
      {
        type: 'token',
        data: 'secret',
        metadata: { k: 'v', old: 'w' },
        fingerprint_expression: '{{ metadata | stringify }}',
      },
      { metadata: { k: 'x', old: null } },
      true,
    ],
    [
      'the number, and null for the month',
      { type: 'card', data: card, fingerprint_expression: '{{ data.number }}{{ data.expiration_month }}' },
      { data: { number: '5555555555554444', expiration_month: null } },
      true,
    ],
    [
      'null for the month, but not the number',
      { type: 'card', data: card, fingerprint_expression: '{{ data.number }}{{ data.expiration_month }}' },
      { data: { expiration_month: null } },
      false,
    ],
    [
      'both numbers of a bank account, and null for its name',
      { type: 'bank', data: { ...bank, name: 'secret' }, fingerprint_expression: bankExpression },
      { data: { ...bank, account_number: '654321', name: null } },
      true,
    ],
    [
      'the account number of a bank account, and null for its name',
      { type: 'bank', data: { ...bank, name: 'secret' }, fingerprint_expression: bankExpression },
      { data: { account_number: '654321', name: null } },
      true,
    ],
    [
      'the routing number of a bank account, and null for its name',
      { type: 'bank', data: { ...bank, name: 'secret' }, fingerprint_expression: bankExpression },
      { data: { routing_number: '011000015', name: null } },
      false,
    ],
    [
      'the account number of a bank account, and a null in an object that is read as a whole',
      {
        type: 'bank',
        data: { ...bank, name: { a: 'secret' } },
        fingerprint_expression: '{{ data.account_number }}|{{ data.name | stringify }}',
      },
      { data: { account_number: '654321', name: { a: null, b: 'x' } } },
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

  test('an update that removes one value and sends the other finds a duplicate, and its retry returns the same', async ({
    service,
  }) => {
    const key = await below(service, 'mask');
    const expression = '{{ data.p.a }}|{{ data.b }}';
    const make = (data: Json) =>
      create(service, { type: 'token', data, fingerprint_expression: expression, mask: 'm' });
    for (const patch of [{ p: { a: null } }, { p: null }]) {
      const b = uniqueId();
      const other = await make({ b });
      const own = await make({ p: { a: 1 }, b: 2 });
      const headers = { 'idempotency-key': uniqueId() };
      const body = { data: { ...patch, b }, deduplicate_token: true };
      for (const _ of ['first', 'retry']) {
        const answer = await service.call('PATCH', path(own.id), body, { key, headers });
        expect(answer.status, answer.text).toBe(200);
        const { fingerprint } = other;
        expect(answer.body).toMatchObject({ id: other.id, fingerprint, _extras: { deduplicated: true } });
      }
    }
  });

  test('an update cannot find a duplicate with null for one value and nothing for the other', async ({ service }) => {
    const key = await below(service, 'mask');
    const expression = '{{ data.p.a }}|{{ data.b }}';
    const make = (data: Json) => create(service, { type: 'token', data, fingerprint_expression: expression });
    const b = uniqueId();
    await make({ b });
    const own = await make({ p: { a: 1 }, b });
    for (const p of [{ a: null }, null, {}]) {
      const answer = await service.call('PATCH', path(own.id), { data: { p }, deduplicate_token: true }, { key });
      expect(answer.text).not.toContain('fingerprint":');
      if (p !== null && Object.keys(p).length === 0) expect(answer.status).toBe(200);
      else expect(answer.body).toMatchObject({ code: 'reveal_required' });
    }
    const removed = await service.call('PATCH', path(own.id), { data: null }, { key });
    expect(removed.status).toBe(400);
    expect(removed.text).not.toContain('fingerprint');
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
