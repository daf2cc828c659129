import { describe, expect, it, vi } from 'vitest';
import type { Json } from '#src/domain/json.js';
import { card } from '#src/domain/token/types/card.js';

const number = '4242424242424242';

function outcome(data: Json): unknown {
  const checked = card.validate(data);
  return checked.ok ? checked.value : Object.keys(checked.errors);
}

describe('a card’s expiration', () => {
  it.each([
    [
      { expiration_month: '1', expiration_year: '2030' },
      { expiration_month: 1, expiration_year: 2030 },
    ],
    [{ expiration_month: '09' }, { expiration_month: 9 }],
    [
      { expiration_month: 12, expiration_year: 1999 },
      { expiration_month: 12, expiration_year: 1999 },
    ],
    [{ expiration_month: null, expiration_year: null }, {}],
  ])('%j is stored as %j', (given, stored) => {
    expect(outcome({ number, ...given })).toEqual({ data: { number, ...stored }, cvc: null });
  });

  it.each<[Record<string, Json>, string]>([
    [{ expiration_month: 0 }, 'data.expiration_month'],
    [{ expiration_month: 13 }, 'data.expiration_month'],
    [{ expiration_month: 1.5 }, 'data.expiration_month'],
    [{ expiration_month: '00' }, 'data.expiration_month'],
    [{ expiration_month: '001' }, 'data.expiration_month'],
    [{ expiration_month: '' }, 'data.expiration_month'],
    [{ expiration_month: ' 1' }, 'data.expiration_month'],
    [{ expiration_month: '1e0' }, 'data.expiration_month'],
    [{ expiration_month: true }, 'data.expiration_month'],
    [{ expiration_year: 30 }, 'data.expiration_year'],
    [{ expiration_year: '30' }, 'data.expiration_year'],
    [{ expiration_year: '0999' }, 'data.expiration_year'],
    [{ expiration_year: 10000 }, 'data.expiration_year'],
    [{ expiration_year: [2030] }, 'data.expiration_year'],
  ])('%j is rejected', (given, path) => {
    expect(outcome({ number, ...given })).toEqual([path]);
  });
});

describe('a card’s cvc', () => {
  it.each<[Json, string | null]>([
    ['123', '123'],
    ['0123', '0123'],
    [123, '123'],
    [9999, '9999'],
    [null, null],
  ])('%j is removed from the data and returned as %j', (cvc, apart) => {
    expect(outcome({ number, cvc, name: 'A' })).toEqual({ data: { number, name: 'A' }, cvc: apart });
  });

  it.each<Json>(['', '12', '12345', '12a', ' 123', 12, 12345, 123.5, -123, true, ['123'], { cvv: '123' }])(
    '%j is rejected',
    (cvc) => {
      expect(outcome({ number, cvc })).toEqual(['data.cvc']);
    },
  );
});

describe('a verification code under another name would be kept permanently, so it is rejected', () => {
  it.each([
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
    'CVV',
    'CVC',
    'c-v-c',
    'Cvc',
    'cvc ',
    'securityCode',
    'Security Code',
    'SECURITY-CODE',
    'PIN.Block',
    'trackData',
    'cvv²',
    'ｃｖｖ',
    'c\u200bvv',
    `c${'-'.repeat(100)}vv`,
    `ⓒ${'-'.repeat(100)}ⓥⓥ`,
    'c\u3164vv',
    `${' '.repeat(1_000)}Security Code`,
  ])('%j', (name) => {
    expect(outcome({ number, [name]: '123' })).toHaveLength(1);
    expect(outcome({ number, cvc: '123', details: { [name]: null } })).toHaveLength(1);
    expect(outcome({ number, list: [[{ [name]: {} }]] })).toHaveLength(1);
  });

  it.each<[Record<string, Json>, readonly string[]]>([
    [{ cvv: '1' }, ['data.cvv']],
    [{ details: { cvv: '1' } }, ['data.details.cvv']],
    [{ details: { cvc: '1' } }, ['data.details.cvc']],
    [{ data: { cvc: '1' } }, ['data.data.cvc']],
    [{ list: [0, { Pin: '1' }] }, ['data.list[1].Pin']],
    [{ cvv: '1', pin: '2' }, ['data.cvv', 'data.pin']],
    [{ '4242424242424242': { cvv: '1' } }, ['data.*.cvv']],
  ])('the error names the path: %j', (extra, paths) => {
    expect(outcome({ number, ...extra })).toEqual(paths);
  });

  it('the error names at most ten paths, so that the response stays small', () => {
    const list = Array.from({ length: 1_000 }, () => ({ cvv: '1' }));
    expect(outcome({ number, list })).toHaveLength(10);
  });

  it.each([
    'pins',
    'spin',
    'tracking',
    'tracking_number',
    'cvc_check',
    'security',
    'acid',
    'name',
    '0',
    'cvv'.repeat(100),
  ])('a key that only resembles such a name is kept: %s', (name) => {
    expect(outcome({ number, [name]: ['x'] })).toEqual({ data: { number, [name]: ['x'] }, cvc: null });
  });
});

it('a very long key in card data is not normalized, because it cannot be a reserved name', ({ onTestFinished }) => {
  const normalize = vi.spyOn(String.prototype, 'normalize');
  onTestFinished(() => normalize.mockRestore());
  expect(outcome({ number, [`cvv${'\ufdfa'.repeat(10_000)}`]: 1, note: 1 })).toMatchObject({ cvc: null });
  const lengths = normalize.mock.contexts.map((text) => String(text).length);
  expect(lengths).toContain('note'.length);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(64);
});
