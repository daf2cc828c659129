import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filterNames } from '#src/domain/expressions/catalogue.js';
import { createExpressions } from '#src/domain/expressions/expressions.js';
import { runExpression } from './support.js';

const expressions = createExpressions();
const marker = 'Zq7Secret';

it('a mask key that could be a card number is not repeated', () => {
  const parsed = expressions.parseMask({ 4242424242424242: { 'a b': '{{ none }}', 'n 424242': ['{{ none }}'] } });
  expect(parsed.ok ? [] : Object.keys(parsed.errors)).toEqual(['mask.*["a b"]', 'mask.*.*[0]']);
});

describe('a message never repeats the source or the data', () => {
  const pieces = fc.constantFrom(
    '{{ ',
    ' }}',
    '{% ',
    ' %}',
    '| ',
    ': ',
    ', ',
    "'",
    '"',
    marker,
    'data',
    'last4',
    '(',
    '..',
    '4',
  );
  it('whatever the error is', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const source = `${marker}${parts.join('')}`;
        const parsed = expressions.parse(source, { variables: ['data'] });
        const outcome = parsed.ok
          ? runExpression(expressions, parsed.expression, { data: { [marker]: marker } })
          : parsed;
        if (!outcome.ok) expect(outcome.message, `for ${source}`).not.toContain(marker);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a message explains the error', () => {
  it.each([
    ['{{ data | lst4 }}', 'names an unknown filter; did you mean last4?'],
    ['{{ data | lats4 }}', 'names an unknown filter; did you mean last4?'],
    ['{{ data | capitalize }}', `names an unknown filter; the filters are ${filterNames.join(', ')}`],
    [`{{ data | ${'x'.repeat(3_000)} }}`, `names an unknown filter; the filters are ${filterNames.join(', ')}`],
    ['{{ data | last4: 1 }}', 'is rejected by a filter: last4 takes no arguments'],
    ['{{ data | remove: 1, 2 }}', 'is rejected by a filter: remove takes at most 1 argument'],
    ['{{ data | slice: 1, 2, 3 }}', 'is rejected by a filter: slice takes at most 2 arguments'],
    ['{{ data | append: 12345678901234567890 }}', 'has a number that may lose digits; write it in quotes'],
  ])('%s', (source, message) => {
    const parsed = expressions.parse(source, { variables: ['data'] });
    expect(parsed).toEqual({ ok: false, message: `the object at character 1 ${message}` });
  });

  it.each([
    ['a {% b', 'there is a tag ({% %}); tags are not supported'],
    ['a {% b %}', 'there is a tag ({% %}) at character 3; tags are not supported'],
    ['{{ data', 'there are unbalanced braces'],
  ])('%s', (source, message) => {
    expect(expressions.parse(source, { variables: ['data'] })).toEqual({ ok: false, message });
  });
});
