import { describe, expect } from 'vitest';
import type { Json, JsonObject } from '#src/domain/json.js';
import { create, expectRefusal, invalid, read, test, uniqueId } from '../support.js';

/** These expressions are rejected in every field. */
const wrongEverywhere = [
  ['an object that does not end', '{{ data'],
  ['an object that does not begin', 'data }}'],
  ['nested objects', '{{ {{ data }} }}'],
  ['a tag', "{% assign x = 'y' %}"],
  ['a tag next to an object', '{{ data }}{% if true %}x{% endif %}'],
  ['a comment', '{% comment %}{{ data }}{% endcomment %}'],
  ['an unknown variable', '{{ process }}'],
  ['an unknown variable as an argument', '{{ data | append: secret }}'],
  ['an unknown filter', '{{ data | sha256 }}'],
  ['an unsupported Liquid filter', '{{ data | where: "a", "b" }}'],
  ['a range', '{{ (1..9) }}'],
  ['a missing argument', '{{ data | reveal_last }}'],
  ['an argument of the wrong type', "{{ data | reveal_last: 'x' }}"],
  ['an empty search text', "{{ data | remove: '' }}"],
  ['21 filters', `{{ data ${'| upcase '.repeat(21)}}}`],
] as const;

/** Malformed expressions. In a mask, such an expression evaluates to null. Every other field rejects it. */
const malformedChains = [
  ['a missing pipe', '{{ data reveal_last: 4 }}'],
  ['nothing at all', '{{ }}'],
  ['an operator', '{{ data == 1 }}'],
] as const;

const aliases = ['alias_card', 'alias_preserve_format', 'alias_preserve_length'];
const long = `{{ data }}${'x'.repeat(4_000)}`;

const fields: readonly (readonly [string, (expression: string) => JsonObject])[] = [
  ['id', (id) => ({ id })],
  ['search_indexes[1]', (expression) => ({ search_indexes: ['{{ data }}', expression] })],
  ['fingerprint_expression', (fingerprint_expression) => ({ fingerprint_expression })],
  ['mask', (mask) => ({ mask })],
  ['mask.a[1].b', (mask) => ({ mask: { a: ['x', { b: mask }] } })],
  ['mask["a key"]', (mask) => ({ mask: { 'a key': mask } })],
];

const refusedByField = fields.flatMap(([path, fieldsWith]) => {
  const isMask = path.startsWith('mask');
  const expressions = [
    ...wrongEverywhere,
    ...(isMask ? [] : malformedChains),
    ...(path === 'id' ? [] : aliases.map((name) => ['a random alias', `{{ data | ${name} }}`] as const)),
    ...(path.startsWith('search') || path === 'id' ? ([['metadata', '{{ metadata.k }}']] as const) : []),
    ['too many characters', long] as const,
  ];
  return expressions.map(([what, expression]) => ({ path, what, expression, fields: fieldsWith(expression) }));
});

describe('400 an expression that cannot be accepted: the error names its field, and nothing is stored', () => {
  test.for(refusedByField)('$path: $what', async ({ path, fields }, { service }) => {
    const body = { type: 'token', data: 'Sensitive', metadata: { k: 'v' }, ...fields };
    const answer = await expectRefusal(service, () => service.call('POST', '/tokens', body), invalid(path));
    expect(answer.text).not.toMatch(/Sensitive|process|sha256|liquid/i);
  });

  test('a mask with more than 200 objects', async ({ service }) => {
    const body = (count: number) => ({ type: 'token', data: 1, mask: Array(count).fill('{{ data }}') });
    await create(service, body(200));
    await expectRefusal(service, () => service.call('POST', '/tokens', body(201)), invalid('mask'));
  });
});

const evaluated: readonly (readonly [what: string, data: Json, fields: JsonObject, path: string])[] = [
  ['an index that is null', {}, { search_indexes: ['{{ data.a }}'] }, 'search_indexes[0]'],
  ['an index that is empty', { a: '' }, { search_indexes: ['x', '{{ data.a }}'] }, 'search_indexes[1]'],
  ['an empty index expression', 1, { search_indexes: [''] }, 'search_indexes[0]'],
  ['an index that is an object', { a: {} }, { search_indexes: ['{{ data.a }}'] }, 'search_indexes[0]'],
  ['an index that is an array', { a: [1] }, { search_indexes: ['{{ data.a }}'] }, 'search_indexes[0]'],
  ['an index of 501 characters', 'x'.repeat(501), { search_indexes: ['{{ data }}'] }, 'search_indexes[0]'],
  ['an impossible cast', 'x', { search_indexes: ['{{ data | to_number }}'] }, 'search_indexes[0]'],
  ['a path to several values', [1, 2], { search_indexes: ["{{ data | json: '$[*]' }}"] }, 'search_indexes[0]'],
  ['a prototype', {}, { search_indexes: ['{{ data.constructor.name }}'] }, 'search_indexes[0]'],
  ['a fingerprint that is null', {}, { fingerprint_expression: '{{ data.a }}' }, 'fingerprint_expression'],
  [
    'an impossible cast in a fingerprint',
    {},
    { fingerprint_expression: '{{ data | to_boolean }}' },
    'fingerprint_expression',
  ],
  [
    'a filter result over 512 KiB',
    'a'.repeat(6_000),
    { fingerprint_expression: `{{ data | replace: 'a', '${'b'.repeat(100)}' }}` },
    'fingerprint_expression',
  ],
  [
    'more than 1 MiB of results',
    'a'.repeat(400_000),
    { fingerprint_expression: '{{ data }}{{ data }}{{ data }}' },
    'fingerprint_expression',
  ],
  ['an id that is null', {}, { id: '{{ data.a }}' }, 'id'],
  ['an id that is an object', { a: {} }, { id: '{{ data.a }}' }, 'id'],
  ['an id that is too short', { a: 'x' }, { id: '{{ data.a }}' }, 'id'],
  ['an id with a forbidden character', { a: 'abc/d' }, { id: '{{ data.a }}' }, 'id'],
  ['an alias that hides nothing', 'abc', { id: '{{ data | alias_preserve_length: 2, 1 }}' }, 'id'],
];

describe('400 an expression whose value cannot be used', () => {
  test.for(evaluated)('%s', async ([, data, fields, path], { service }) => {
    const body = { type: 'token', data, ...fields };
    await expectRefusal(service, () => service.call('POST', '/tokens', body), invalid(path));
  });

  test.for([
    ['search_indexes[0]', { search_indexes: ['{{ data.cvc }}'] }],
    ['fingerprint_expression', { fingerprint_expression: '{{ data.cvc }}' }],
    ['id', { id: '{{ data.cvc }}' }],
  ] as const)('%s cannot use the cvc', async ([path, fields], { service }) => {
    const body = { type: 'card', data: { number: '4242424242424242', cvc: '123' }, ...fields };
    await expectRefusal(service, () => service.call('POST', '/tokens', body), invalid(path));
  });
});

describe('a malformed chain in a mask is stored and shows nothing', () => {
  test.for(malformedChains)('%s', async ([, mask], { service }) => {
    const { id, ...created } = await create(service, { id: uniqueId(), type: 'token', data: 'Sensitive', mask });
    expect(created['mask']).toBe(mask);
    expect(await read(service, id, await service.application(['token:read']))).not.toHaveProperty('data');
  });
});
