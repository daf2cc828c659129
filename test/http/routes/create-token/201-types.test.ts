import { describe, expect } from 'vitest';
import type { Json } from '#src/domain/json.js';
import type { TokenType } from '#src/domain/token/types/token-type.js';
import { create, read, test, uniqueId } from '../support.js';

type Row = {
  readonly type: TokenType;
  readonly sent: Json;
  /** The stored data, if it differs from the data that was sent. */
  readonly stored?: Json;
  /** The data that a masked read returns, or undefined if it returns no data. */
  readonly masked: Json | undefined;
};

const lastFour = '{{ data | reveal_last: 4 }}';
const withoutHyphens = "{{ data | remove: '-' }}";
const threeIndexes = ['{{ data }}', withoutHyphens, '{{ data | last4 }}'];
const defaults = {
  token: ['/general/high/', '{{ data | stringify }}', undefined, undefined],
  card: [
    '/pci/high/',
    '{{ data.number }}',
    {
      number: '{{ data.number | reveal_last: 4 }}',
      expiration_month: '{{ data.expiration_month }}',
      expiration_year: '{{ data.expiration_year }}',
    },
    undefined,
  ],
  bank: [
    '/bank/high/',
    '{{ data.account_number }}|{{ data.routing_number }}',
    { routing_number: '{{ data.routing_number }}', account_number: '{{ data.account_number | reveal_last: 4 }}' },
    undefined,
  ],
  card_number: ['/pci/high/', '{{ data }}', lastFour, undefined],
  us_bank_account_number: ['/bank/high/', '{{ data }}', lastFour, undefined],
  us_bank_routing_number: ['/bank/low/', '{{ data }}', lastFour, undefined],
  social_security_number: ['/pii/high/', withoutHyphens, lastFour, threeIndexes],
  employer_id_number: ['/pii/high/', withoutHyphens, lastFour, threeIndexes],
} as const;

const rows: readonly Row[] = [
  { type: 'token', sent: 'Sensitive Value', masked: undefined },
  { type: 'token', sent: '', masked: undefined },
  { type: 'token', sent: 0, masked: undefined },
  { type: 'token', sent: false, masked: undefined },
  { type: 'token', sent: [], masked: undefined },
  { type: 'token', sent: { a: null, constructor: 'data', b: [null, { c: 8.99 }] }, masked: undefined },
  {
    type: 'card',
    sent: { number: '4242424242424242', expiration_month: '01', expiration_year: '2030', cvc: 123, name: 'A', x: null },
    stored: { number: '4242424242424242', expiration_month: 1, expiration_year: 2030, cvc: '123', name: 'A', x: null },
    masked: { number: 'XXXXXXXXXXXX4242', expiration_month: 1, expiration_year: 2030 },
  },
  {
    type: 'card',
    sent: { number: '630400000000', expiration_month: 12, expiration_year: 1999, cvc: '0123' },
    masked: { number: 'XXXXXXXX0000', expiration_month: 12, expiration_year: 1999 },
  },
  {
    type: 'card',
    sent: { number: '4000000000000000006', expiration_month: null, expiration_year: null, cvc: null },
    stored: { number: '4000000000000000006' },
    masked: { number: 'XXXXXXXXXXXXXXX0006' },
  },
  {
    type: 'bank',
    sent: { routing_number: '021000021', account_number: '12345678901234567', holder: 'A', cvv: 'kept' },
    masked: { routing_number: '021000021', account_number: 'XXXXXXXXXXXXX4567' },
  },
  {
    type: 'bank',
    sent: { routing_number: '021000021', account_number: '1234' },
    masked: { routing_number: '021000021', account_number: 'XXXX' },
  },
  { type: 'card_number', sent: '4222222222222', masked: 'XXXXXXXXX2222' },
  { type: 'us_bank_account_number', sent: '00123', masked: 'X0123' },
  { type: 'us_bank_account_number', sent: '123', masked: 'XXX' },
  { type: 'us_bank_routing_number', sent: '021000021', masked: 'XXXXX0021' },
  { type: 'social_security_number', sent: '123-45-6789', masked: 'XXX-XX-6789' },
  { type: 'social_security_number', sent: '123456789', masked: 'XXXXX6789' },
  { type: 'employer_id_number', sent: '12-3456789', masked: 'XX-XXX6789' },
];

describe('201 each type keeps its data, has its defaults, and shows a masked reader only the mask', () => {
  test.for(rows)('$type $sent', async ({ type, sent, stored = sent, masked }, { service }) => {
    const created = await create(service, { type, data: sent });
    const [container, expression, mask, indexes] = defaults[type];
    expect(created['data']).toEqual(stored);
    expect(created['containers']).toEqual([container]);
    expect(created['fingerprint_expression']).toBe(expression);
    expect(created['mask']).toEqual(mask);
    expect(created['search_indexes']).toEqual(indexes);
    expect(await read(service, created.id)).toEqual(created);
    const masking = await service.application(['token:read']);
    const seen = await read(service, created.id, masking);
    expect(seen).toEqual({ ...created, data: masked, fingerprint: undefined });
    expect('data' in seen).toBe(masked !== undefined);
  });
});

describe('201 the fingerprint', () => {
  const ssn = { type: 'social_security_number', data: '987-65-4321' };

  test('is in base58, and equal for equal values of a type, however the values are written', async ({ service }) => {
    const one = await create(service, ssn);
    const other = await create(service, { ...ssn, data: '987654321' });
    expect(one['fingerprint']).toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
    expect(other['fingerprint']).toBe(one['fingerprint']);
    expect(other.id).not.toBe(one.id);
  });

  test('differs between types, tenants and values', async ({ service }) => {
    const key = await service.otherTenant();
    const tokens = [
      await create(service, ssn),
      await create(service, { ...ssn, type: 'employer_id_number' }),
      await create(service, { ...ssn, data: '987-65-4322' }),
      await create(service, ssn, { key }),
      await create(service, { type: 'token', data: '\ud800' }),
      await create(service, { type: 'token', data: '\ud801' }),
    ];
    expect(new Set(tokens.map(({ fingerprint }) => fingerprint)).size).toBe(tokens.length);
  });

  test('of a card or a bank account depends only on the numbers', async ({ service }) => {
    const bank = { routing_number: '021000021', account_number: '5566' };
    const pairs = [
      [
        { type: 'card', data: { number: '4242424242424242', cvc: '111' } },
        { number: '4242424242424242', name: 'A' },
      ],
      [
        { type: 'bank', data: bank },
        { ...bank, holder: 'A' },
      ],
    ] as const;
    for (const [token, data] of pairs) {
      const one = await create(service, token);
      const other = await create(service, { ...token, data });
      expect(other['fingerprint']).toBe(one['fingerprint']);
    }
  });
});

describe('201 values that JSON can write in several ways', () => {
  test('-0 is returned as 0, and has the fingerprint of 0', async ({ service }) => {
    const raw = `{"id":"${uniqueId()}","type":"token","data":-0}`;
    const answer = await service.call('POST', '/tokens', undefined, { raw });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.text).toContain('"data":0,');
    const zero = await create(service, { type: 'token', data: 0 });
    expect(answer.body['fingerprint']).toBe(zero['fingerprint']);
  });

  test('lone surrogates in data are returned unchanged', async ({ service }) => {
    const data = { text: '\ud800', 'k\udfff': '\udc00x' };
    const { id } = await create(service, { type: 'token', data });
    expect((await read(service, id))['data']).toEqual(data);
  });
});
