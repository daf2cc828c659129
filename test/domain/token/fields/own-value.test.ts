import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bareText,
  type OpenFields,
  rejectEmbeddedValue,
  rejectPossibleEmbeddedValue,
} from '#src/domain/token/fields/embedded-value.js';

const none: OpenFields = { givenId: null, containers: ['/pci/high/'], metadata: null };

function paths(ownValues: readonly string[], fields: Partial<OpenFields>): readonly string[] {
  const checked = rejectEmbeddedValue(ownValues, { ...none, ...fields });
  return checked.ok ? [] : Object.keys(checked.errors);
}

describe('a field that every caller can see must not contain the token’s own value', () => {
  const card = ['4242424242424242'];
  const ssn = ['123-45-6789'];

  it.each<[readonly string[], Partial<OpenFields>, readonly string[]]>([
    [card, { givenId: '4242424242424242' }, ['id']],
    [card, { givenId: 'card-4242-4242-4242-4242-x' }, ['id']],
    [card, { containers: ['/a/', '/4242/4242/4242/4242/'] }, ['containers[1]']],
    [card, { metadata: { a: 'x', note: 'is 4242 4242.4242_4242!' } }, ['metadata.note']],
    [card, { metadata: { '4242424242424242': 'v' } }, ['metadata']],
    [card, { givenId: '４２４２４２４２４２４２４２４２' }, ['id']],
    [card, { metadata: { note: '٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢' } }, ['metadata.note']],
    [card, { metadata: { note: '४२४२-𑁪𑁨𑁪𑁨-4242-４２４２' } }, ['metadata.note']],
    [card, { metadata: { note: '④②④②-⁴²⁴²-₄₂₄₂-4242' } }, ['metadata.note']],
    [card, { metadata: { '5555555555554444': '4242424242424242' } }, ['metadata.*']],
    [ssn, { givenId: 'ssn:123456789' }, ['id']],
    [
      ssn,
      { givenId: '123-45-6789', containers: ['/123456789/'], metadata: { k: '123 45 6789' } },
      ['id', 'containers[0]', 'metadata.k'],
    ],
    [['123456'], { givenId: '0123456789' }, ['id']],
  ])('%j is found in %j', (ownValues, fields, refused) => {
    expect(paths(ownValues, fields)).toEqual(refused);
  });

  it.each<[readonly string[], Partial<OpenFields>]>([
    [[], { givenId: '4242424242424242' }],
    [card, {}],
    [card, { givenId: '424242xxxxxx4242', metadata: { last4: '4242', bin: '42424242' } }],
    [card, { givenId: '42424242x42424242' }],
    [['12345'], { givenId: 'id-12345' }],
    [['12-34-5'], { givenId: '12345' }],
  ])('%j is not found in %j', (ownValues, fields) => {
    expect(paths(ownValues, fields)).toEqual([]);
  });

  it('the value is found whatever characters separate its digits', () => {
    const separators = fc.array(fc.constantFrom('', '-', ' ', '.', '\u200b', '_'), { minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(fc.string(), separators, fc.string(), (before, between, after) => {
        const value = [...'4242424242424242'].map((digit, i) => digit + (between[i] ?? '')).join('');
        expect(paths(card, { metadata: { k: `${before}-${value}${after}` } })).toEqual(['metadata.k']);
      }),
    );
  });
});

it('decimal digits in every script count as digits', () => {
  const digits = Array.from({ length: 0x2_0000 }, (_, code) => code)
    .map((code) => String.fromCodePoint(code))
    .filter((text) => /^\p{Nd}$/u.test(text));
  expect(digits.length).toBeGreaterThan(600);
  expect(digits.map(bareText).join('')).toBe('0123456789'.repeat(digits.length / 10));
});

describe('for a caller that cannot see the value, the fields that it may write do not depend on the value', () => {
  const before = { containers: ['/pci/', '/111111111111/'], metadata: { old: '1234 5678 9012', '999999999999': 'a' } };
  const refused = (
    digits: number | null,
    after: Partial<typeof before> | { metadata: Record<string, string> | null },
  ) => {
    const checked = rejectPossibleEmbeddedValue(digits, before, { ...before, ...after });
    return checked.ok ? [] : Object.keys(checked.errors);
  };

  it.each([
    [12, { metadata: { ...before.metadata, k: '1234-5678-9012' } }, ['metadata']],
    [12, { metadata: { ...before.metadata, k: 'x١٢٣٤٥٦٧٨٩٠١٢' } }, ['metadata']],
    [12, { metadata: { ...before.metadata, '1234 5678 9012 3': '' } }, ['metadata']],
    [12, { metadata: { ...before.metadata, old: '1234 5678 9013' } }, ['metadata']],
    [12, { containers: ['/1234/5678/9012/'] }, ['containers']],
    [1, { metadata: { k: '123456' } }, ['metadata']],
    [9, { containers: ['/123456789/'], metadata: { k: '123456789' } }, ['containers', 'metadata']],
  ])('for a value with %j digits, %j is rejected', (digits, after, paths) => {
    expect(refused(digits, after)).toEqual(paths);
  });

  it.each([
    [12, {}],
    [12, { containers: ['/111111111111/'], metadata: { old: '1234 5678 9012' } }],
    [12, { metadata: { '999999999999': 'b' } }],
    [12, { metadata: { k: '12345678901', l: '123456x789012' } }],
    [1, { metadata: { k: '12345' } }],
    [12, { metadata: null }],
    [null, { metadata: { k: '1234567890123456' } }],
  ])('for a value with %j digits, %j is accepted', (digits, after) => {
    expect(refused(digits, after)).toEqual([]);
  });
});
