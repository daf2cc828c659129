import { describe, expect, it } from 'vitest';
import { tokenTypes } from '#src/domain/token/types/token-type.js';
import { typeRules } from '#src/domain/token/types/type-rules.js';

const taxIndexes = ['{{ data }}', "{{ data | remove: '-' }}", '{{ data | last4 }}'];
const lastFour = '{{ data | reveal_last: 4 }}';
const withoutHyphens = "{{ data | remove: '-' }}";

describe('the defaults of each type are those in docs/contract.md, "Token types"', () => {
  it.each([
    ['token', '/general/high/', '{{ data | stringify }}', null, false, []],
    [
      'card',
      '/pci/high/',
      '{{ data.number }}',
      {
        number: '{{ data.number | reveal_last: 4 }}',
        expiration_month: '{{ data.expiration_month }}',
        expiration_year: '{{ data.expiration_year }}',
      },
      false,
      [],
    ],
    [
      'bank',
      '/bank/high/',
      '{{ data.account_number }}|{{ data.routing_number }}',
      { routing_number: '{{ data.routing_number }}', account_number: '{{ data.account_number | reveal_last: 4 }}' },
      true,
      [],
    ],
    ['card_number', '/pci/high/', '{{ data }}', lastFour, false, []],
    ['us_bank_account_number', '/bank/high/', '{{ data }}', lastFour, true, []],
    ['us_bank_routing_number', '/bank/low/', '{{ data }}', lastFour, false, []],
    ['social_security_number', '/pii/high/', withoutHyphens, lastFour, false, taxIndexes],
    ['employer_id_number', '/pii/high/', withoutHyphens, lastFour, false, taxIndexes],
  ] as const)('%s', (type, container, fingerprint, mask, hidesShort, indexes) => {
    const rule = typeRules[type];
    expect(rule.defaultContainer).toBe(container);
    expect(rule.defaultFingerprintExpression).toBe(fingerprint);
    expect(rule.defaultMask).toEqual(mask);
    expect(rule.defaultMaskHidesShortValues).toBe(hidesShort);
    expect(rule.defaultSearchIndexes).toEqual(indexes);
  });

  it('every type is covered', () => {
    expect(Object.keys(typeRules)).toEqual([...tokenTypes]);
  });
});

describe('a token’s own values', () => {
  it.each([
    ['token', { number: '4242424242424242' }, []],
    ['card', { number: '4242424242424242', expiration_year: 2030 }, ['4242424242424242']],
    ['bank', { routing_number: '021000021', account_number: '123456' }, ['123456']],
    ['card_number', '4242424242424242', ['4242424242424242']],
    ['us_bank_account_number', '123456', ['123456']],
    ['us_bank_routing_number', '021000021', []],
    ['social_security_number', '123-45-6789', ['123-45-6789']],
    ['employer_id_number', '12-3456789', ['12-3456789']],
  ] as const)('%s %j', (type, data, values) => {
    expect(typeRules[type].ownValues(data)).toEqual(values);
  });
});
