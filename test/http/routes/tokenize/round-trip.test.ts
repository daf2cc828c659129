import fc from 'fast-check';
import { expect } from 'vitest';
import { isFaithfulNumber } from '#src/domain/faithful-number.js';
import { isJsonObject, type Json } from '#src/domain/json.js';
import { detokenize, tokenize } from '../batch.js';
import { test } from '../support.js';

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('{{ a }}', "it's", '{{', '}}', '{% x %}'));
/** Generates the JSON numbers that the vault accepts. The vault rejects whole numbers beyond ±(2^53 - 1). */
const faithful = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .filter((number) => isFaithfulNumber(JSON.stringify(number)));
const value = fc.oneof(text, fc.integer(), faithful, fc.boolean());
const key = text.filter((name) => name !== '__proto__');
const { body } = fc.letrec<{ body: Json }>((tie) => ({
  body: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    value.map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.array(tie('body'), { maxLength: 4 }),
    fc.dictionary(key, tie('body'), { maxKeys: 4 }),
  ),
}));

test('detokenize returns the tokenized values unchanged', async ({ service }) => {
  await fc.assert(
    fc.asyncProperty(body.filter(fits), async (json) => {
      const tokens = await tokenize(service, json);
      expect(await detokenize(service, asExpressions(tokens))).toEqual(json);
    }),
    { numRuns: 60 },
  );
});

function asExpressions(tokens: Json): Json {
  if (typeof tokens === 'string') return `{{ ${tokens} }}`;
  if (Array.isArray(tokens)) return tokens.map(asExpressions);
  if (!isJsonObject(tokens)) return tokens;
  return Object.fromEntries(Object.entries(tokens).map(([name, item]) => [name, asExpressions(item)]));
}

/** Returns true if a body has at most 100 values, no create request, and no key that the body parser rejects. */
function fits(json: Json): boolean {
  const written = JSON.stringify(json);
  return written.length < 3_000 && !/"(?:type|data|constructor|prototype)"/.test(written);
}
