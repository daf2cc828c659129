import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitLeaf } from '#src/domain/detokenize/parse-template.js';

const refusals =
  /^(there are unbalanced braces|a quote is not closed|the expression) at character \d+( names no token)?$/;

const reference = (id: string, more: object = {}) => ({
  kind: 'reference',
  id,
  whole: false,
  filters: null,
  character: 1,
  ...more,
});

describe('an expression is read as it was intended, whatever its id contains', () => {
  test.for([
    ['{{ abc }}', reference('abc')],
    ['{{abc}}', reference('abc')],
    ["{{ o'brien }}", reference("o'brien")],
    ['{{ -a- }}', reference('-a-')],
    ['{{ token: abc }}', reference('abc', { whole: true })],
    ['{{ token:abc }}', reference('token:abc')],
    ['{{ token: token: x }}', reference('token: x', { whole: true })],
    ['{{ a b | x: \'}}\', "{{" }}', reference('a b', { filters: ' x: \'}}\', "{{" ' })],
    ["{{ o'b | x: 'it\\'s }}' }}", reference("o'b", { filters: " x: 'it\\'s }}' " })],
  ] as const)('%s', ([text, part]) => {
    expect(splitLeaf(text)).toEqual({ ok: true, parts: [part] });
  });
});

describe('an arbitrary string', () => {
  const piece = fc.constantFrom('{{', '}}', '{', '}', '|', "'", '"', '\\', ' ', 'abc', 'token: ', '{%', '{{ a }}');

  test('is split without loss, or rejected without quoting it', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        const split = splitLeaf(text);
        if (!split.ok) {
          expect(split.message).toMatch(refusals);
          return;
        }
        // From the last part to the first, because only the beginning of a reference is known.
        let end = text.length;
        for (const part of split.parts.toReversed()) {
          const from = part.kind === 'text' ? end - part.text.length : part.character - 1;
          const source = text.slice(from, end);
          if (part.kind === 'text') expect([source, source.includes('{{')]).toEqual([part.text, false]);
          else expect(source).toMatch(/^\{\{.*\}\}$/);
          end = from;
        }
        expect(end).toBe(0);
      }),
    );
  });

  test('of 4 MiB is read in linear time', () => {
    const texts = ["{{ a | '", '{{ a }}', "{{ a | x: 'y' }}", '{', '}}', "'", '{{{'].map((part) =>
      part.repeat(4e6 / part.length),
    );
    const started = performance.now();
    for (const text of texts) splitLeaf(text);
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});
