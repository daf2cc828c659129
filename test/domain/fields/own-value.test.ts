import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkOwnValue, type OpenFields } from '#src/domain/token/fields/own-value.js';

const none: OpenFields = { givenId: null, containers: ['/pci/high/'], metadata: null };

function paths(ownValues: readonly string[], fields: Partial<OpenFields>): readonly string[] {
  const checked = checkOwnValue(ownValues, { ...none, ...fields });
  return checked.ok ? [] : Object.keys(checked.errors);
}

describe('a field that is open to all must not hold the value of its own token', () => {
  const card = ['4242424242424242'];
  const ssn = ['123-45-6789'];

  it.each<[readonly string[], Partial<OpenFields>, readonly string[]]>([
    [card, { givenId: '4242424242424242' }, ['id']],
    [card, { givenId: 'card-4242-4242-4242-4242-x' }, ['id']],
    [card, { containers: ['/a/', '/4242/4242/4242/4242/'] }, ['containers[1]']],
    [card, { metadata: { a: 'x', note: 'is 4242 4242.4242_4242!' } }, ['metadata.note']],
    [card, { metadata: { '4242424242424242': 'v' } }, ['metadata']],
    [card, { givenId: '４２４２４２４２４２４２４２４２' }, ['id']],
    [ssn, { givenId: 'ssn:123456789' }, ['id']],
    [
      ssn,
      { givenId: '123-45-6789', containers: ['/123456789/'], metadata: { k: '123 45 6789' } },
      ['id', 'containers[0]', 'metadata.k'],
    ],
    [['123456'], { givenId: '0123456789' }, ['id']],
  ])('%j in %j', (ownValues, fields, refused) => {
    expect(paths(ownValues, fields)).toEqual(refused);
  });

  it.each<[readonly string[], Partial<OpenFields>]>([
    [[], { givenId: '4242424242424242' }],
    [card, {}],
    [card, { givenId: '424242xxxxxx4242', metadata: { last4: '4242', bin: '42424242' } }],
    [card, { givenId: '42424242x42424242' }],
    [['12345'], { givenId: 'id-12345' }],
    [['12-34-5'], { givenId: '12345' }],
  ])('%j is not in %j', (ownValues, fields) => {
    expect(paths(ownValues, fields)).toEqual([]);
  });

  it('finds the value whatever stands between its digits', () => {
    const separators = fc.array(fc.constantFrom('', '-', ' ', '.', '\u200b', '_'), { minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(fc.string(), separators, fc.string(), (before, between, after) => {
        const value = [...'4242424242424242'].map((digit, i) => digit + (between[i] ?? '')).join('');
        expect(paths(card, { metadata: { k: `${before}-${value}${after}` } })).toEqual(['metadata.k']);
      }),
    );
  });
});
