import fc from 'fast-check';
import type { JsonObject } from '#src/domain/json.js';

export const typeNames = [
  'token',
  'card',
  'bank',
  'card_number',
  'us_bank_account_number',
  'us_bank_routing_number',
  'social_security_number',
  'employer_id_number',
];
export const words = ['Straße', 'STRASSE', 'red', 'Red', 'blue', '4242', '5556', '123-45-6789', '1'];
export const keys = ['color', 'Color', 'my key', 'größe'];
export const paths = ['/', '/a/', '/a/b/', '/a/b/c/', '/ab/', '/b/'];

/** A create request, and the values that its search index expressions must have. The values were determined by hand. */
type Sample = { readonly fields: JsonObject; readonly indexValues: readonly string[] };

/**
 * The words that can be used as metadata. None of them is the value of a token, because metadata must not contain the
 * token's value.
 */
export const harmlessWords = words.filter((word) => !/\d{3}/.test(word) || word === '4242');
const metadata = fc.dictionary(fc.constantFrom(...keys), fc.constantFrom(...harmlessWords), { maxKeys: 3 });
const containers = fc.uniqueArray(fc.constantFrom(...paths), { minLength: 1, maxLength: 3 });

const number = { a: '4242424242424242', b: '5555555555554444' } as const;

/** Data of each type, either with explicit expressions for its search indexes or with the default expressions. */
const typed: fc.Arbitrary<Sample> = fc.oneof(
  fc.constantFrom(...words).map((data) => sample('token', data, ['{{ data }}'], [data])),
  fc.constantFrom(...words).map((data) => sample('token', data)),
  fc
    .constantFrom(...words)
    .map((word) =>
      sample('token', { a: { b: word } }, ['{{ data.a.b }}', '{{ data.a.b | last4 }}'], [word, last4(word)]),
    ),
  fc
    .constantFrom(number.a, number.b)
    .map((n) => sample('card', { number: n, cvc: '123' }, ['{{ data.number | last4 }}'], [n.slice(-4)])),
  fc.constantFrom(number.a, number.b).map((n) => sample('card_number', n, ['{{ data | last4 }}'], [n.slice(-4)])),
  fc
    .constantFrom('123456789', '1')
    .map((account) =>
      sample(
        'bank',
        { routing_number: '110000000', account_number: account },
        ['{{ data.account_number }}'],
        [account],
      ),
    ),
  fc.constantFrom('123456789', '4242').map((n) => sample('us_bank_account_number', n, ['{{ data }}'], [n])),
  fc.constant(sample('us_bank_routing_number', '110000000')),
  fc
    .constantFrom('123-45-6789', '123456789', '987-65-4242')
    .map((n) => ({ ...sample('social_security_number', n), indexValues: [n, n.replaceAll('-', ''), n.slice(-4)] })),
  fc
    .constantFrom('12-3456789')
    .map((n) => ({ ...sample('employer_id_number', n), indexValues: [n, n.replaceAll('-', ''), n.slice(-4)] })),
);

function sample(type: string, data: unknown, indexes?: string[], indexValues: string[] = []): Sample {
  return { fields: { type, data, ...(indexes ? { search_indexes: indexes } : {}) } as JsonObject, indexValues };
}

function last4(text: string): string {
  return text.slice(-4);
}

/** The token expires after this many seconds. Null for a token without an expiry. */
const life = fc.constantFrom(null, null, null, 60, 3_600);

export const samples = fc
  .record({ typed, metadata, containers, life })
  .map(({ typed: { fields, indexValues }, life: seconds, ...rest }) => ({
    indexValues,
    life: seconds,
    fields: { ...fields, ...rest },
  }));

/** Changes to fields that search depends on. */
export const patches = fc.record({ metadata: fc.oneof(metadata, fc.constant(null)), containers }, { requiredKeys: [] });
