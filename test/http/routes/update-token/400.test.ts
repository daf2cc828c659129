import { describe, expect } from 'vitest';
import type { Json, JsonObject } from '#src/domain/json.js';
import type { TestService } from '../../../support/test-service.js';
import {
  card,
  create,
  createPlain,
  expectRefusal,
  invalid,
  path,
  read,
  test,
  uniqueId,
  withoutTrace,
} from '../support.js';

type Row = readonly [what: string, patch: JsonObject, ...paths: readonly string[]];

const many = <T>(count: number, item: (i: number) => T) => Array.from({ length: count }, (_, i) => item(i));

/** Patches that are rejected for tokens of every type. */
const rows: readonly Row[] = [
  ['data null', { data: null }, 'data'],
  ['no container', { containers: [] }, 'containers'],
  ['11 containers', { containers: many(11, (i) => `/c${i}/`) }, 'containers'],
  ['containers that are not an array', { containers: '/a/' }, 'containers'],
  ['wrong containers', { containers: ['/a', '/ok/', 1] }, 'containers[0]', 'containers[2]'],
  ['a container of 201 characters', { containers: [`/${'c'.repeat(199)}/`] }, 'containers[0]'],
  ['metadata that is not an object', { metadata: 'x' }, 'metadata'],
  ['metadata that is an array', { metadata: [] }, 'metadata'],
  ['51 metadata keys', { metadata: Object.fromEntries(many(51, (i) => [`k${i}`, 'v'])) }, 'metadata'],
  ['an empty key', { metadata: { '': 'v' } }, 'metadata'],
  ['a key of 101 characters', { metadata: { ['k'.repeat(101)]: 'v' } }, 'metadata'],
  ['a value of 1,001 characters', { metadata: { k: 'v'.repeat(1_001) } }, 'metadata.k'],
  ['numbers and objects', { metadata: { a: null, b: 1, c: { d: 'e' } } }, 'metadata.b', 'metadata.c'],
  ['indexes that are not an array', { search_indexes: 'x' }, 'search_indexes'],
  ['an index that is null', { search_indexes: ['x', null] }, 'search_indexes[1]'],
  ['11 indexes', { search_indexes: many(11, (i) => `x${i}`) }, 'search_indexes'],
  ['an index of 401 characters', { search_indexes: ['x'.repeat(401)] }, 'search_indexes[0]'],
  ['80,000 invalid indexes, none of which is evaluated', { search_indexes: Array(80_000).fill(1) }, 'search_indexes'],
  ['a wrong index', { search_indexes: ['{{ metadata.a }}'] }, 'search_indexes[0]'],
  ['a fingerprint expression that is not a string', { fingerprint_expression: {} }, 'fingerprint_expression'],
  ['a fingerprint expression of 401 characters', { fingerprint_expression: 'x'.repeat(401) }, 'fingerprint_expression'],
  ['an invalid fingerprint expression', { fingerprint_expression: '{{ data | none }}' }, 'fingerprint_expression'],
  [
    'an alias in a fingerprint expression',
    { fingerprint_expression: '{{ data | alias_card }}' },
    'fingerprint_expression',
  ],
  ['deduplicate_token that is a string', { deduplicate_token: 'false' }, 'deduplicate_token'],
  ['expires_at that is a number', { expires_at: 1 }, 'expires_at'],
  ['expires_at in the past', { expires_at: '2026-01-31T12:00:00Z' }, 'expires_at'],
  ['an impossible expires_at', { expires_at: '2/30/2030' }, 'expires_at'],
  ['an empty expires_at', { expires_at: '' }, 'expires_at'],
  ['a wrong mask', { mask: '{{ data' }, 'mask'],
  ['a tag in a mask', { mask: ['{% raw %}'] }, 'mask[0]'],
  ['an invalid member of a mask', { mask: { a: { b: '{{ none }}' }, gone: null } }, 'mask.a.b'],
  ['too many objects in a mask', { mask: Array(201).fill('{{ data }}') }, 'mask'],
  ['a mask of 4,001 characters', { mask: `{{ data }}${'x'.repeat(4_000)}` }, 'mask'],
  ['several errors', { metadata: { a: 1 }, expires_at: 'x', data: null }, 'data', 'metadata.a', 'expires_at'],
];

/** Patches that are rejected only because the token is a card. */
const onACard: readonly Row[] = [
  ['another id', { id: 'another' }, 'id'],
  ['id null', { id: null }, 'id'],
  ['another type', { type: 'card_number' }, 'type'],
  ['type null', { type: null }, 'type'],
  ['data that is not an object', { data: '4242424242424242' }, 'data'],
  ['data without a number', { data: { number: null } }, 'data.number'],
  ['a wrong number', { data: { number: '4242424242424241' } }, 'data.number'],
  ['a wrong month', { data: { expiration_month: 13 } }, 'data.expiration_month'],
  ['a wrong year', { data: { expiration_year: '30' } }, 'data.expiration_year'],
  ['a wrong cvc', { data: { cvc: '12' } }, 'data.cvc'],
  ['a cvc that is an object', { data: { cvc: { a: 1 } } }, 'data.cvc'],
  ['verification data under another name', { data: { a: { CVV2: '1' } } }, 'data.a.CVV2'],
  ['the number in metadata', { metadata: { a: '4242 4242 4242 4242' } }, 'metadata.a'],
  ['the number in a container', { containers: ['/4242424242424242/'] }, 'containers[0]'],
  ['a new number that metadata already contains', { data: { number: '5555555555554444' } }, 'metadata.old'],
  ['a new number that the id already contains', { data: { number: '4000056655665556' } }, 'data'],
  ['a 51st metadata key', { metadata: Object.fromEntries(many(50, (i) => [`k${i}`, 'v'])) }, 'metadata'],
  ['content that data makes larger than 512 KiB', { data: { note: 'x'.repeat(512 * 1024) } }, 'data'],
  ['content that a mask makes larger than 512 KiB', { mask: { a: many(200, () => 'x'.repeat(3_000)) } }, 'data'],
  ['an index of the cvc', { search_indexes: ['{{ data.cvc }}'] }, 'search_indexes[0]'],
  ['a fingerprint of the cvc', { fingerprint_expression: '{{ data.cvc }}' }, 'fingerprint_expression'],
  ['an index that becomes null', { data: { name: null } }, 'search_indexes[0]', 'fingerprint_expression'],
  ['an index that becomes empty', { data: { name: '' } }, 'search_indexes[0]'],
  ['an index that becomes an object', { data: { name: {} } }, 'search_indexes[0]'],
  ['an index of 501 characters', { data: { name: 'x'.repeat(501) } }, 'search_indexes[0]'],
  ['an impossible cast', { search_indexes: ['{{ data.name | to_number }}'] }, 'search_indexes[0]'],
];

describe('400 an invalid patch: the error names the field, and nothing is stored or changed', () => {
  test.for(rows)('%s', async ([, patch, ...paths], { service }) => {
    const { id } = await createPlain(service, { metadata: { a: 'b' } });
    await refusesPatch(service, id, patch, paths);
    // Errors that can be found without the stored token are reported before the token is looked up.
    const unknown = () => service.call('PATCH', '/tokens/unknown', patch);
    await expectRefusal(service, unknown, invalid(...paths));
  });

  test.for(onACard)('for a card: %s', async ([, patch, ...paths], { service }) => {
    const { id } = await create(service, {
      id: `${uniqueId()}-4000056655665556`,
      type: 'card',
      data: { ...card, name: 'A' },
      metadata: { old: '5555555555554444' },
      search_indexes: ['{{ data.name }}'],
      fingerprint_expression: '{{ data.name }}',
    });
    await refusesPatch(service, id, patch, paths);
  });

  test.for<readonly [string, Json, Json]>([
    ['bank', { routing_number: '021000021', account_number: '12' }, { account_number: null }],
    ['card_number', '4242424242424242', '4242424242424241'],
    ['us_bank_account_number', '12345', { a: 1 }],
    ['us_bank_routing_number', '021000021', '021000022'],
    ['social_security_number', '123-45-6789', 'x'],
    ['employer_id_number', '12-3456789', ''],
  ])('for %s', async ([type, data, patch], { service }) => {
    const { id } = await create(service, { type, data });
    const field = type === 'bank' ? 'data.account_number' : 'data';
    await refusesPatch(service, id, { data: patch }, [field]);
  });
});

const membersFrom = (first: number, count: number) => Object.fromEntries(many(count, (i) => [`k${first + i}`, 0]));

describe('400 a patch after which an object of the data has more than 20,000 members', () => {
  test.for<readonly [what: string, under: (members: JsonObject) => JsonObject, path: string]>([
    ['data', (members) => members, 'data'],
    ['an object in data', (members) => ({ a: { 'b c': members } }), 'data.a["b c"]'],
  ])('%s', async ([, under, field], { service }) => {
    const { id } = await create(service, { type: 'token', data: under(membersFrom(0, 19_999)) });
    await refusesPatch(service, id, { data: under(membersFrom(19_999, 2)) }, [field]);
    const patch = (data: JsonObject) => service.call('PATCH', path(id), { data: under(data) });
    expect((await patch(membersFrom(19_999, 1))).status).toBe(200);
    await refusesPatch(service, id, { data: under(membersFrom(20_000, 1)) }, [field]);
    expect((await patch({ k0: null, k20000: 0 })).status).toBe(200);
  });
});

describe('400 a body that is not a patch', () => {
  test.for(['null', '[]', '"x"', '1'])('%s', async (raw, { service }) => {
    const { id } = await createPlain(service);
    await expectRefusal(service, () => service.call('PATCH', path(id), undefined, { raw }), invalid('body'));
  });

  test('a missing body', async ({ service }) => {
    const { id } = await createPlain(service);
    const headers = { 'content-type': 'application/json' };
    await expectRefusal(service, () => service.call('PATCH', path(id)), invalid('body'));
    await expectRefusal(service, () => service.call('PATCH', path(id), undefined, { headers }), invalid('body'));
  });

  test('malformed JSON', async ({ service }) => {
    const { id } = await createPlain(service);
    const send = (raw: string) => () => service.call('PATCH', path(id), undefined, { raw });
    const malformed = (field: string) => ({ status: 400, code: 'malformed_body', paths: [field] });
    await expectRefusal(service, send('{"data":'), malformed('body'));
    await expectRefusal(service, send('{"data":{"__proto__":1}}'), malformed('data.__proto__'));
  });

  test.for([0, 201])('an idempotency key of %s characters', async (length, { service }) => {
    const { id } = await createPlain(service);
    for (const [header, field] of [
      ['service-idempotency-key', 'SERVICE-IDEMPOTENCY-KEY'],
      ['idempotency-key', 'idempotency-key'],
    ] as const) {
      const headers = { [header]: 'k'.repeat(length) };
      const send = () => service.call('PATCH', path(id), { data: 1 }, { headers });
      await expectRefusal(service, send, invalid(field));
    }
  });
});

async function refusesPatch(service: TestService, id: string, patch: JsonObject, paths: readonly string[]) {
  const before = await read(service, id);
  const answer = await expectRefusal(service, () => service.call('PATCH', path(id), patch), invalid(...paths));
  expect(withoutTrace(answer.text)).not.toMatch(/4242|5555|665566/);
  expect(await read(service, id)).toEqual(before);
}
