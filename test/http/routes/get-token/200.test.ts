import { describe, expect } from 'vitest';
import type { AccessRule } from '#src/domain/access/access-rule.js';
import type { Json } from '#src/domain/json.js';
import { rule } from '../../../support/test-service.js';
import { card, create, createPlain, path, read, test } from '../support.js';

describe('200 the caller’s transform determines how much of the data is shown', () => {
  const data = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };
  const { cvc: _, ...rest } = data;
  const masked = { ...rest, number: 'XXXXXXXXXXXX4242' };
  const rows: readonly (readonly [string, readonly AccessRule[], Json | undefined])[] = [
    ['reveal', [rule('/', 'reveal', ['token:read'])], data],
    ['mask', [rule('/', 'mask', ['token:read'])], masked],
    ['redact', [rule('/', 'redact', ['token:read'])], undefined],
    ['a parent covers its children', [rule('/pci/', 'reveal', ['token:read'])], data],
    ['the rule itself', [rule('/pci/high/', 'reveal', ['token:read'])], data],
    [
      'the lowest priority first',
      [rule('/', 'reveal', ['token:read'], 2), rule('/pci/', 'mask', ['token:read'], 1)],
      masked,
    ],
    [
      'negative priorities before zero',
      [rule('/', 'mask', ['token:read'], 0), rule('/', 'redact', ['token:read'], -1)],
      undefined,
    ],
    [
      'equal priorities in their order',
      [rule('/pci/', 'redact', ['token:read']), rule('/', 'reveal', ['token:read'])],
      undefined,
    ],
    [
      'rules for other containers are skipped',
      [rule('/pci/low/', 'redact', ['token:read']), rule('/', 'reveal', ['token:read'])],
      data,
    ],
    [
      'rules for other permissions are skipped too',
      [rule('/', 'redact', ['token:use']), rule('/', 'reveal', ['token:read'])],
      data,
    ],
  ];

  test.for(rows)('%s', async ([, rules, expected], { service }) => {
    const { id, fingerprint, ...created } = await create(service, { type: 'card', data });
    const seen = await read(service, id, await service.application([...rules]));
    const revealed = expected === data ? { fingerprint } : {};
    expect(seen).toEqual({ ...created, id, data: expected, ...revealed });
    expect('data' in seen).toBe(expected !== undefined);
  });

  test('a rule for one of the containers is enough, and the first matching rule decides', async ({ service }) => {
    const { id } = await createPlain(service, { containers: ['/a/', '/b/'], mask: 'masked' });
    const reveals = await service.application([rule('/b/', 'reveal', ['token:read'])]);
    expect(await read(service, id, reveals)).toMatchObject({ data: 'value' });
    const masks = await service.application([
      rule('/b/', 'reveal', ['token:read'], 2),
      rule('/a/', 'mask', ['token:read']),
    ]);
    expect(await read(service, id, masks)).toMatchObject({ data: 'masked' });
  });

  test('plain permissions mask the data, even if they contain token:use', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data });
    const key = await service.application(['token:read', 'token:use']);
    expect((await read(service, id, key))['data']).toEqual(masked);
  });
});

describe('200 the response to a create uses the transform', () => {
  const rows = [
    ['plain permissions mask', ['token:create'], ['/a/'], 'masked'],
    ['one rule', [rule('/a/', 'reveal', ['token:create'])], ['/a/'], 'value'],
    [
      'the strictest of two containers',
      [rule('/a/', 'reveal', ['token:create']), rule('/b/', 'redact', ['token:create'])],
      ['/a/', '/b/'],
      undefined,
    ],
    [
      'each container by its first rule',
      [rule('/', 'mask', ['token:create'], 2), rule('/a/', 'reveal', ['token:create'])],
      ['/a/', '/b/'],
      'masked',
    ],
    [
      'the rule for reading has no effect',
      [rule('/', 'redact', ['token:read'], 0), rule('/', 'reveal', ['token:create'])],
      ['/a/'],
      'value',
    ],
  ] as const;

  test.for(rows)('%s', async ([, access, containers, expected], { service }) => {
    const key = await service.application([...access] as AccessRule[]);
    const token = { type: 'token', data: 'value', mask: 'masked', containers };
    expect((await create(service, token, { key }))['data']).toEqual(expected);
  });
});

describe('200 masks are evaluated on each read', () => {
  const rows: readonly (readonly [what: string, data: Json, mask: Json, seen: Json | undefined])[] = [
    // These values are from docs/contract.md, "Filter examples".
    ['reveal_last', '123-45-6789', '{{ data | reveal_last: 4 }}', 'XXX-XX-6789'],
    ['reveal_last', '12-3456789', '{{ data | reveal_last: 4 }}', 'XX-XXX6789'],
    ['reveal_last', 'Sensitive Value', '{{ data | reveal_last: 4 }}', 'XXXXXXXXXXXalue'],
    ['card_mask', '3622-7206-2716-5567', "{{ data | card_mask: 'true','true','#','-' }}", '3622-7206-####-5567'],
    ['reveal', '3622-7206-2716-5567', "{{ data | reveal: 7, 4, '#', '-' }}", '3622-72##-####-5567'],
    ['stringify', 8.99, '{{ data | stringify }}', '8.99'],
    ['a single object keeps its type', { n: 8.99 }, '{{ data.n }}', 8.99],
    ['an object stays one', { o: { a: [1] } }, '{{ data.o }}', { a: [1] }],
    [
      'inside text, an object is its JSON and null is empty',
      { o: { a: 1 } },
      '<{{ data.o }}|{{ data.none }}>',
      '<{"a":1}|>',
    ],
    ['several are concatenated', { a: 1, b: 'c' }, '{{ data.a }}-{{ data.b }}', '1-c'],
    ['a key with null is dropped', { a: 1 }, { a: '{{ data.a }}', none: '{{ data.none }}', nil: null }, { a: 1 }],
    ['in an array it stays null', { a: 1 }, ['{{ data.none }}', '{{ data.a }}', null], [null, 1, null]],
    ['null at the top redacts', { a: 1 }, '{{ data.none }}', undefined],
    ['literals stay', 1, { a: 7, b: true, c: ['x'], d: {} }, { a: 7, b: true, c: ['x'], d: {} }],
    ['false is a mask', 1, false, false],
    ['a failing expression is null', 'x', { a: '{{ data | to_number }}', b: 'b' }, { b: 'b' }],
    ['a mistake shows nothing', 'secret', { a: '{{ data reveal_last: 4 }}', b: 'b' }, { b: 'b' }],
    ['a mistake inside text', 'secret', 'a{{ data reveal_last: 4 }}b', 'ab'],
    ['metadata', 'secret', '{{ metadata.k }}', 'v'],
    ['no prototype', {}, '{{ data.constructor }}', undefined],
  ];

  test.for(rows)('%s: %j %j', async ([, data, mask, seen], { service }) => {
    const { id } = await createPlain(service, { data, mask, metadata: { k: 'v' } });
    const body = await read(service, id, await service.application(['token:read']));
    expect(body['data']).toEqual(seen);
    expect('data' in body).toBe(seen !== undefined);
    expect(body['mask']).toEqual(mask);
  });

  test('the default mask of a bank hides a short account number, in whatever order a caller sends its fields', async ({
    service,
  }) => {
    const data = { routing_number: '021000021', account_number: '1234' };
    const mask = {
      account_number: '{{ data.account_number | reveal_last: 4 }}',
      routing_number: '{{ data.routing_number }}',
    };
    const { id } = await create(service, { type: 'bank', data, mask });
    const shown = (await read(service, id, await service.application(['token:read'])))['data'];
    expect(shown).toEqual({ routing_number: '021000021', account_number: 'XXXX' });
  });

  test('a card’s own mask can use the cvc', async ({ service }) => {
    const { id } = await create(service, { type: 'card', data: card, mask: { c: '{{ data.cvc }}', k: 'v' } });
    const key = await service.application(['token:read']);
    expect((await read(service, id, key))['data']).toEqual({ c: '123', k: 'v' });
    await service.call('DELETE', `${path(id)}/cvc`);
    expect((await read(service, id, key))['data']).toEqual({ k: 'v' });
  });
});

describe('200 headers', () => {
  test('a token must not be cached and has an entity tag', async ({ service }) => {
    const { id } = await createPlain(service);
    const answer = await service.call('GET', path(id));
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      etag: '"0"',
      'content-type': 'application/json; charset=utf-8',
      'service-trace-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test('HEAD returns the same as GET without the body', async ({ service }) => {
    const { id } = await createPlain(service);
    const get = await service.call('GET', path(id));
    const head = await service.call('HEAD', path(id));
    expect(head).toMatchObject({ status: 200, text: '' });
    for (const header of ['etag', 'content-length', 'content-type', 'cache-control']) {
      expect(head.headers[header], header).toBe(get.headers[header]);
    }
    expect(await service.call('HEAD', '/tokens/unknown')).toMatchObject({ status: 404, text: '' });
    expect(await service.call('HEAD', path(id), undefined, { key: null })).toMatchObject({ status: 401, text: '' });
    const headers = { 'if-none-match': '"0"' };
    expect(await service.call('HEAD', path(id), undefined, { headers })).toMatchObject({ status: 304 });
  });

  test('an idempotency key is ignored, whatever its length is', async ({ service }) => {
    const { id } = await createPlain(service);
    const headers = { 'idempotency-key': 'k'.repeat(300) };
    expect((await service.call('GET', path(id), undefined, { headers })).status).toBe(200);
  });
});

describe('304 if If-None-Match names the revision', () => {
  test.for(['"1"', '*', 'W/"1"', '"0", W/"1"', '"a,b" , "1"'])('%s', async (tags, { service }) => {
    const { id } = await createPlain(service);
    await service.call('PATCH', path(id), { data: 'x' });
    const answer = await service.call('GET', path(id), undefined, { headers: { 'if-none-match': tags } });
    expect(answer).toMatchObject({ status: 304, text: '', headers: { etag: '"1"', 'cache-control': 'no-store' } });
  });

  test.for(['"0"', 'W/"0"', '1', '""', '"1*"', '"*"', 'w/"1"', '"1"x', 'x"1"', '"W/1"'])(
    '%s does not name the revision',
    async (tags, { service }) => {
      const { id } = await createPlain(service);
      await service.call('PATCH', path(id), { data: 'x' });
      const answer = await service.call('GET', path(id), undefined, { headers: { 'if-none-match': tags } });
      expect(answer.status).toBe(200);
    },
  );

  test('a caller that may not read the token gets no 304', async ({ service }) => {
    const { id } = await createPlain(service);
    const key = await service.application([rule('/x/', 'reveal', ['token:read'])]);
    const answer = await service.call('GET', path(id), undefined, { key, headers: { 'if-none-match': '*' } });
    expect(answer.status).toBe(403);
  });
});
