import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '#src/domain/json.js';
import { jsonText } from '#src/domain/json-text.js';
import { finish } from '#src/domain/steps.js';

/** Strings with sizes below and above the limit for serializing a value in one step. */
const long = fc.integer({ min: 0, max: 80_000 }).map((length) => 'ä"\n'.repeat(length / 3));
const { json } = fc.letrec((tie) => ({
  json: fc.oneof({ depthSize: 'small' }, fc.jsonValue(), long, tie('array'), tie('object')),
  array: fc.array(tie('json'), { maxLength: 6 }),
  object: fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', '1', 'toString')), tie('json'), {
    maxKeys: 6,
  }),
}));

test('the text equals that of JSON.stringify', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(finish(jsonText(value as Json))).toBe(JSON.stringify(value));
    }),
  );
});

test.each([
  ['empty arrays', Array.from({ length: 300_000 }, () => [])],
  ['numbers', Array.from({ length: 300_000 }, (_, i) => i / 8)],
  ['long strings between short values', Array.from({ length: 100 }, (_, i) => (i % 3 === 0 ? 'x'.repeat(40_000) : i))],
  ['many keys', Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`name-${i}`, { i }]))],
])('%s are serialized in steps', (_name, value) => {
  const steps = jsonText(value as Json);
  let yields = 0;
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      expect(step.value === JSON.stringify(value)).toBe(true);
      break;
    }
    yields += 1;
  }
  expect(yields).toBeGreaterThan(20);
});
