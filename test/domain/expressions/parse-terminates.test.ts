import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExpressions } from '#src/domain/expressions/expressions.js';
import { runExpression, runMask } from './support.js';

const expressions = createExpressions({ cacheEntriesMax: 1 });
const scope = { variables: ['data', 'metadata'], aliases: true } as const;

function use(source: string): void {
  const parsed = expressions.parse(source, scope);
  if (parsed.ok) runExpression(expressions, parsed.expression, { data: { a: ['b', 1] } }, { random: () => 0 });
  if (expressions.parseMask(source).ok) runMask(expressions, source, { data: { a: ['b', 1] } });
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

const hostilePieces = [
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
];
const heads = ['', '{{ data | append: '];
const ends = ['', ' }}', "' }}", ' %}', ']', ')'];

/**
 * Counts the steps that the parser takes for sources of half the maximum length and of the maximum length. Steps do not
 * depend on how busy the machine is. They do not include the work inside one call of a built-in function, such as the
 * search for a regular expression.
 */
function stepsOf(sources: readonly string[]): readonly number[] {
  const program = fileURLToPath(new URL('./count-steps.mjs', import.meta.url));
  const printed = execFileSync(process.execPath, [program], { input: JSON.stringify(sources), encoding: 'utf8' });
  return JSON.parse(printed) as number[];
}

it('a hostile source of twice the length takes about twice as many steps', () => {
  const pairs = hostilePieces.flatMap((piece) =>
    heads.flatMap((head) =>
      ends.map((end) => {
        // The number of pieces is even, so that both sources have as many unclosed quotes.
        const pieces = 2 * Math.floor(990 / piece.length);
        const of = (count: number) => `${head}${piece.repeat(count)}${end}`;
        return { name: of(1), sources: [of(pieces), of(2 * pieces)] };
      }),
    ),
  );
  const steps = stepsOf(pairs.flatMap(({ sources }) => sources));
  const growth = pairs.map(({ name }, index) => {
    const [half = 0, whole = 0] = steps.slice(2 * index, 2 * index + 2);
    return { name, half, whole, factor: whole / half };
  });
  // The counting works: most of these sources cannot be rejected without reading them.
  expect(growth.filter(({ whole }) => whole > 4_000).length).toBeGreaterThan(growth.length / 2);
  // In quadratic time, the factor would be close to 4.
  expect(growth.filter(({ factor }) => !(factor < 2.5))).toEqual([]);
});
