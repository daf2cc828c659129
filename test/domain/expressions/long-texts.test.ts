import { describe, expect, it } from 'vitest';
import { createExpressions } from '#src/domain/expressions/expressions.js';
import type { Json } from '#src/domain/json.js';

// How many characters a filter processes before it yields. In the second long string, a surrogate pair lies across each
// multiple of this number.
const range = 32 * 1024;
const ascii = '1-a'.repeat(range);
const wide = `${'1'.repeat(range - 1)}😀${'-'.repeat(range - 2)}😀9`;

/** Evaluates a mask. Returns the result, and how many times the computation yielded. */
function evaluateInSteps(mask: string, data: Json): { readonly result: Json | undefined; readonly yields: number } {
  const steps = createExpressions().masking(mask, { data });
  for (let yields = 0; ; yields += 1) {
    const step = steps.next();
    if (step.done === true) return { result: step.value.redacted ? undefined : step.value.data, yields };
  }
}

const hideAll = (text: string, hidden: string) => Array.from(text, () => hidden).join('');

describe.each([
  ['ASCII', ascii],
  ['surrogate pairs', wide],
])('a filter yields while it processes a long string (%s), and the result is the same', (_, text) => {
  const characters = Array.from(text);
  it.each<[string, Json]>([
    [
      "{{ data | reveal_last: 3, '#' }}",
      characters.map((one, i) => (i >= characters.length - 3 || one === '-' ? one : '#')).join(''),
    ],
    [
      "{{ data | reveal: 2, 1, '#' }}",
      characters.map((one, i) => (i < 2 || i === characters.length - 1 ? one : '#')).join(''),
    ],
    ["{{ data | card_mask: 'false', 'false', '#', '-' }}", characters.map((one) => (one === '-' ? one : '#')).join('')],
    ["{{ data | replace: '1', '22' | size }}", characters.reduce((size, one) => size + (one === '1' ? 2 : 1), 0)],
    ["{{ data | remove: '1' }}", text.replaceAll('1', '')],
    ["{{ data | split: '-' | size }}", text.replace(/-+$/, '').split('-').length],
  ])('%s', (mask, expected) => {
    const { result, yields } = evaluateInSteps(mask, text);
    expect(result).toEqual(expected);
    // The computation yields once after the filter. In addition, it yields at least twice in each pass over the string.
    expect(yields).toBeGreaterThan(3);
  });

  it('if the mask would otherwise hide nothing, everything is masked', () => {
    expect(
      evaluateInSteps(`{{ data | card_mask: 'true', 'true', '#', '${[...new Set(text)].join('')}' }}`, text).result,
    ).toBe(hideAll(text, '#'));
  });
});
