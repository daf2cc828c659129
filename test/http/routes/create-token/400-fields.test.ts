import { describe, expect } from 'vitest';
import type { Json, JsonObject } from '#src/domain/json.js';
import { expectRefusal, invalid, test, uniqueId, withoutTrace } from '../support.js';

type Row = readonly [what: string, fields: JsonObject, ...paths: readonly string[]];

const many = <T>(count: number, item: (i: number) => T) => Array.from({ length: count }, (_, i) => item(i));
const pan = '4242424242424242';
const bankData = { routing_number: '021000021', account_number: '123456789' };
const ownCard = { type: 'card', data: { number: pan } };

const rows: readonly Row[] = [
  ['an unknown type', { type: 'unknown' }, 'type'],
  ['a type in capitals', { type: 'Card' }, 'type'],
  ['a type that is not a string', { type: 1 }, 'type'],
  ['type null', { type: null }, 'type'],
  ['data null', { data: null }, 'data'],
  ['data null for a card', { type: 'card', data: null }, 'data'],

  ['an id of 2 characters', { id: 'ab' }, 'id'],
  ['an empty id', { id: '' }, 'id'],
  ['an id of 401 characters', { id: 'a'.repeat(401) }, 'id'],
  ['an id of 401 characters of two units', { id: '💳'.repeat(401) }, 'id'],
  ['an id that is not a string', { id: 123 }, 'id'],
  ...[...'#/\\+?[]|&=%<>{}^'].map((one): Row => [`an id with ${one}`, { id: `abc${one}def` }, 'id']),
  ...['\u0000', '\n', '\u007f', '\u0085'].map((one): Row => ['a control in the id', { id: `abc${one}def` }, 'id']),
  ['a lone surrogate in the id', { id: 'abc\ud800' }, 'id'],

  ['no container', { containers: [] }, 'containers'],
  ['11 containers', { containers: many(11, (i) => `/c${i}/`) }, 'containers'],
  ['containers that are not an array', { containers: '/a/' }, 'containers'],
  ['a container that is not a string', { containers: ['/a/', 1] }, 'containers[1]'],
  ['a container that is null', { containers: [null] }, 'containers[0]'],
  ['a container without / before it', { containers: ['a/'] }, 'containers[0]'],
  ['a container without / after it', { containers: ['/a'] }, 'containers[0]'],
  ['an empty container', { containers: [''] }, 'containers[0]'],
  ['an empty segment', { containers: ['/a//b/'] }, 'containers[0]'],
  ['an invalid character', { containers: ['/ä/', '/ok/', '/a b/'] }, 'containers[0]', 'containers[2]'],
  ['a container of 201 characters', { containers: [`/${'c'.repeat(199)}/`] }, 'containers[0]'],

  ['metadata that is not an object', { metadata: 'x' }, 'metadata'],
  ['metadata that is an array', { metadata: ['x'] }, 'metadata'],
  ['51 metadata keys', { metadata: Object.fromEntries(many(51, (i) => [`k${i}`, 'v'])) }, 'metadata'],
  ['an empty metadata key', { metadata: { '': 'v' } }, 'metadata'],
  ['a key of 101 characters', { metadata: { ['k'.repeat(101)]: 'v' } }, 'metadata'],
  ['a key with a lone surrogate', { metadata: { 'k\ud800': 'v' } }, 'metadata'],
  ['a value of 1,001 characters', { metadata: { k: 'v'.repeat(1_001) } }, 'metadata.k'],
  ['a value with a lone surrogate', { metadata: { k: '\udc00' } }, 'metadata.k'],
  ['null, a number and an object', { metadata: { a: null, b: 1, c: {} } }, 'metadata.a', 'metadata.b', 'metadata.c'],

  ['indexes that are not an array', { search_indexes: '{{ data }}' }, 'search_indexes'],
  ['an index that is not a string', { search_indexes: ['{{ data }}', 1] }, 'search_indexes[1]'],
  ['an index that is null', { search_indexes: [null] }, 'search_indexes[0]'],
  ['11 indexes', { search_indexes: many(11, (i) => `x${i}`) }, 'search_indexes'],
  ['an index of 401 characters', { search_indexes: ['x'.repeat(401)] }, 'search_indexes[0]'],
  ['a fingerprint expression that is not a string', { fingerprint_expression: 1 }, 'fingerprint_expression'],
  ['a fingerprint expression of 401 characters', { fingerprint_expression: 'x'.repeat(401) }, 'fingerprint_expression'],
  ['deduplicate_token that is a string', { deduplicate_token: 'true' }, 'deduplicate_token'],
  ['deduplicate_token that is a number', { deduplicate_token: 1 }, 'deduplicate_token'],

  ['several errors at once', { id: 'a', metadata: { k: 1 }, containers: [] }, 'id', 'containers', 'metadata.k'],
  ['content over 512 KiB', { data: 'x'.repeat(512 * 1024) }, 'data'],
  [
    'content over 512 KiB by its mask, before its index is evaluated',
    { mask: many(200, () => 'x'.repeat(3_000)), search_indexes: ['{{ data.none }}'] },
    'data',
  ],

  ['expires_at that is a number', { expires_at: 1_900_000_000 }, 'expires_at'],
  ...[
    '',
    'tomorrow',
    '1900000000',
    '2026-01-31T11:59:59Z',
    '2026-01-31T12:00:00Z',
    '1/30/2026',
    '2020-01-01',
    '2/30/2030',
    '2/29/2030',
    '13/1/2030',
    '0/1/2030',
    '1/0/2030',
    '4/31/2030',
    '1/1/30',
    '1/1/2030 13:00:00 PM',
    '1/1/2030 0:00:00 AM',
    '1/1/2030 1:60:00 AM',
    '1/1/2030 1:00:60 AM',
    '1/1/2030 1:00 AM',
    '1/1/2030 1:00:00 AM +14:01',
    '1/1/2030 1:00:00 AM -15:00',
    '1/1/2030 1:00:00 AM +0100',
    '1/1/2030 1:00:00',
    '2030-02-30',
    '2030-13-01',
    '2030-01-01T24:61',
    '2030-01-01T24:00:00Z',
    '2030-01-01T00:00:60Z',
    '2030-1-1',
    '2030-01-01T00:00:00+14:01',
    '2030-01-01T00:00:00+01:60',
    '2030-01-01 00:00:00Z',
    '2030-01-01T',
    '20300101',
    '2030-W01-1',
    '+012030-01-01',
    '2030-01-01T00:00:00.Z',
    ' 2030-01-01',
    '2030-01-01T00Z',
  ].map((expires_at): Row => [`expires_at "${expires_at}"`, { expires_at }, 'expires_at']),
];

const typedRows: readonly (readonly [type: string, data: Json, ...paths: readonly string[]])[] = [
  ['card', pan, 'data'],
  ['card', [], 'data'],
  ['card', {}, 'data.number'],
  ['card', { number: null }, 'data.number'],
  ['card', { number: Number(pan) }, 'data.number'],
  ['card', { number: '4242424242424241' }, 'data.number'],
  ['card', { number: '4242 4242 4242 4242' }, 'data.number'],
  ['card', { number: '42424242420' }, 'data.number'],
  ['card', { number: '00000000000000000000' }, 'data.number'],
  ['card', { number: pan, expiration_month: 0 }, 'data.expiration_month'],
  ['card', { number: pan, expiration_month: 13 }, 'data.expiration_month'],
  ['card', { number: pan, expiration_month: 1.5 }, 'data.expiration_month'],
  ['card', { number: pan, expiration_month: '012' }, 'data.expiration_month'],
  ['card', { number: pan, expiration_month: 'May' }, 'data.expiration_month'],
  ['card', { number: pan, expiration_year: 30 }, 'data.expiration_year'],
  ['card', { number: pan, expiration_year: '30' }, 'data.expiration_year'],
  ['card', { number: pan, expiration_year: 20300 }, 'data.expiration_year'],
  ['card', { number: pan, cvc: '12' }, 'data.cvc'],
  ['card', { number: pan, cvc: '12345' }, 'data.cvc'],
  ['card', { number: pan, cvc: '12a' }, 'data.cvc'],
  ['card', { number: pan, cvc: 12 }, 'data.cvc'],
  ['card', { number: pan, cvc: '' }, 'data.cvc'],
  ['card', { number: pan, cvc: {} }, 'data.cvc'],
  ['card', { number: '1', expiration_month: 0, cvc: 'x' }, 'data.number', 'data.expiration_month', 'data.cvc'],
  ...[
    'cvv',
    'cvv2',
    'cvc2',
    'cid',
    'csc',
    'security_code',
    'verification_value',
    'track',
    'track1',
    'track2',
    'track_data',
    'pin',
    'pin_block',
    'CVC',
    'c_v_c',
    'Security-Code',
    'PIN Block',
    'trackData',
  ].map((key) => ['card', { number: pan, [key]: null }, `data.${key}`] as const),
  ['card', { number: pan, extra: [{ CVV: '1' }] }, 'data.extra[0].CVV'],
  ['card', { number: pan, extra: { cvc: '123' } }, 'data.extra.cvc'],
  ['bank', 'x', 'data'],
  ['bank', {}, 'data.routing_number', 'data.account_number'],
  ['bank', { ...bankData, routing_number: '021000022' }, 'data.routing_number'],
  ['bank', { ...bankData, routing_number: '000000000' }, 'data.routing_number'],
  ['bank', { ...bankData, routing_number: 21000021 }, 'data.routing_number'],
  ['bank', { ...bankData, account_number: '' }, 'data.account_number'],
  ['bank', { ...bankData, account_number: '123456789012345678' }, 'data.account_number'],
  ['bank', { ...bankData, account_number: 12 }, 'data.account_number'],
  ['card_number', { number: pan }, 'data'],
  ['card_number', '630400000000', 'data'],
  ['card_number', '4242424242424243', 'data'],
  ['us_bank_account_number', '12', 'data'],
  ['us_bank_account_number', '123456789012345678', 'data'],
  ['us_bank_account_number', 12345, 'data'],
  ['us_bank_routing_number', '02100002', 'data'],
  ['us_bank_routing_number', '021000022', 'data'],
  ['us_bank_routing_number', '000000000', 'data'],
  ['social_security_number', '12345678', 'data'],
  ['social_security_number', '1234567890', 'data'],
  ['social_security_number', 123456789, 'data'],
  ['social_security_number', '123 45 6789', 'data'],
  ['employer_id_number', '12-345678', 'data'],
  ['employer_id_number', ['12-3456789'], 'data'],
];

const ownValueRows: readonly Row[] = [
  ['a card number in the id', { ...ownCard, id: `my-${pan}` }, 'id'],
  ['a grouped card number in the id', { ...ownCard, id: '4242-4242.4242 4242' }, 'id'],
  ['an id that evaluates to the card number', { ...ownCard, id: 'x-{{ data.number }}' }, 'id'],
  ['the number next to a random alias', { ...ownCard, id: '{{ data.number }}-{{ data.number | alias_card }}' }, 'id'],
  ['the number in a container', { ...ownCard, containers: ['/a/', `/${pan}/`] }, 'containers[1]'],
  ['the number in metadata', { ...ownCard, metadata: { a: 'b', note: '4242 4242 4242 4242!' } }, 'metadata.note'],
  [
    'the number in full-width digits',
    { ...ownCard, metadata: { note: '４２４２４２４２４２４２４２４２' } },
    'metadata.note',
  ],
  ['a metadata key, which is not repeated', { ...ownCard, metadata: { [pan]: 'b' } }, 'metadata'],
  ['card_number', { type: 'card_number', data: pan, id: `a${pan}` }, 'id'],
  ['bank', { type: 'bank', data: bankData, id: 'account-123456789' }, 'id'],
  ['an account number', { type: 'us_bank_account_number', data: '123456', metadata: { a: '12-34-56' } }, 'metadata.a'],
  ['an SSN', { type: 'social_security_number', data: '123-45-6789', id: 'ssn123456789' }, 'id'],
  ['an EIN', { type: 'employer_id_number', data: '123456789', containers: ['/12-3456789/'] }, 'containers[0]'],
];

describe('400 an invalid create request: the error names the field, and nothing is stored', () => {
  test.for(rows)('%s', async ([, fields, ...paths], { service }) => {
    const body = { type: 'token', data: 'x', ...fields };
    await expectRefusal(service, () => service.call('POST', '/tokens', body), invalid(...paths));
  });

  test.for(['type', 'data'])('without %s', async (field, { service }) => {
    const body = { type: 'token', data: 'x', [field]: undefined };
    await expectRefusal(service, () => service.call('POST', '/tokens', body), invalid(field));
  });
});

describe('400 data that the type rejects', () => {
  test.for(typedRows)('%s %j', async ([type, data, ...paths], { service }) => {
    const send = () => service.call('POST', '/tokens', { type, data });
    const answer = await expectRefusal(service, send, invalid(...paths));
    expect(withoutTrace(answer.text)).not.toMatch(/42424|45 6789|45678/);
  });
});

describe('400 the token’s own value in a field that outlives the token or is shown to every caller', () => {
  test.for(ownValueRows)('%s', async ([, body, ...paths], { service }) => {
    const answer = await expectRefusal(service, () => service.call('POST', '/tokens', body), invalid(...paths));
    expect(withoutTrace(answer.text)).not.toMatch(/42424|123456/);
  });

  test('short values and routing numbers are allowed, because they do not identify a person', async ({ service }) => {
    const id = uniqueId();
    const short = { type: 'us_bank_account_number', data: '12345', id: `${id}-12345` };
    const routing = { type: 'us_bank_routing_number', data: '021000021', id: `${id}-021000021` };
    for (const body of [short, routing]) expect((await service.call('POST', '/tokens', body)).status).toBe(201);
  });
});
