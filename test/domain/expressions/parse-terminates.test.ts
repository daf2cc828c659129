import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExpressions } from '#src/domain/expressions/expressions.js';

const expressions = createExpressions({ cacheEntriesMax: 1 });
const scope = { variables: ['data', 'metadata'], aliases: true } as const;

function use(source: string): void {
  const parsed = expressions.parse(source, scope);
  if (parsed.ok) expressions.evaluate(parsed.expression, { data: { a: ['b', 1] } }, { random: () => 0 });
  if (expressions.parseMask(source).ok) expressions.evaluateMask(source, { data: { a: ['b', 1] } });
}

describe('parsing and evaluating never throw', () => {
  it('for an arbitrary string', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), use), { numRuns: 500 });
  });

  it('for a string that looks like Liquid', () => {
    const piece = fc.constantFrom(
      '{{',
      '}}',
      '{%',
      '%}',
      '{{-',
      '-}}',
      'data',
      'metadata',
      '.a',
      '[',
      ']',
      "['a']",
      '(',
      ')',
      '..',
      '|',
      ':',
      ',',
      "'",
      '"',
      '\\',
      ' ',
      '\n',
      '1',
      '-',
      '.',
      'last4',
      'reveal: 1',
      "json: '$",
      'raw',
      'endraw',
      '#',
      '😀',
      '\ud800',
      "replace: 'a', data.a",
      'slice: 1',
      'and',
      '==',
      'nil',
      'empty',
      '__proto__',
    );
    const source = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
    fc.assert(fc.property(source, use), { numRuns: 2_000 });
  });
});

describe('the longest hostile source is parsed quickly', () => {
  it.each([
    '{{',
    '}}',
    '{',
    '}',
    '{%',
    '{{ data',
    '{{ data }}',
    '{{ data',
    '[',
    '{{ data[',
    '(',
    '{{ (',
    "'",
    "{{ '",
    '"',
    "{{ 'a",
    '{{ data | ',
    '{{ data | a:',
    '{{ 1.',
    '{{ -',
    '{{ data.',
    "{{ '\\",
    '{{- ',
    ' -}}',
    '{{ not ',
    '{% raw %}',
    '{{ a\n',
    '{{ ((',
    '{{ ..',
    "{{ data | json: '$",
    '{{ data == ',
  ])('for %s, repeated', (piece) => {
    // With quadratic-time parsing, a thousand sources of 4,000 characters each would take minutes. With linear-time
    // parsing, they take less than one second.
    const started = performance.now();
    for (const end of ['', ' }}', "' }}", ' %}', ']', ')']) {
      use(`${piece.repeat(Math.floor(3_990 / piece.length))}${end}`);
      use(`{{ data | append: ${piece.repeat(Math.floor(3_970 / piece.length))}${end}`);
    }
    expect(performance.now() - started, 'milliseconds').toBeLessThan(5_000);
  });
});
