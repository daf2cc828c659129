import { expect, it } from 'vitest';
import { createExpressions } from '#src/domain/expressions/expressions.js';
import { finish } from '#src/domain/steps.js';
import type { TokenContent } from '#src/domain/token/content.js';
import { deriveFrom } from '#src/domain/token/derive-content.js';
import { draftToken } from '#src/domain/token/draft-token.js';
import { checkPatch, draftUpdate } from '#src/domain/token/draft-update.js';

const expressions = createExpressions();
const source = '{{ data | append: 12345678901234567890 }}';
/** An older version accepted the numbers in these expressions. */
const content: TokenContent = {
  id: 'id',
  type: 'token',
  data: 'secret',
  mask: { a: source, b: 'b' },
  containers: ['/a/'],
  metadata: null,
  search_indexes: [source],
  fingerprint_expression: source,
  fingerprint: 'f',
};
const stored = { content, expiresAt: null, hasCvc: false };

it('a stored expression with a number that loses digits is evaluated as before', () => {
  const value = 'secret12345678901234567000';
  expect(deriveFrom(expressions, content)).toEqual({
    ok: true,
    value: { fingerprintValue: value, indexValues: [value] },
  });
});

it.each([{ metadata: { a: 'b' } }, { mask: { b: 'c' } }])(
  'a token with such expressions can be updated with %j',
  (patch) => {
    expect(checkPatch(expressions, patch, 0)).toMatchObject({ ok: true });
    expect(finish(draftUpdate(expressions, stored, patch, 0))).toMatchObject({
      ok: true,
      value: { changed: Object.keys(patch), draft: { mask: { a: source } } },
    });
  },
);

it.each([
  ['mask.a', { mask: { a: source } }],
  ['search_indexes[0]', { search_indexes: [source] }],
  ['fingerprint_expression', { fingerprint_expression: source }],
  ['id', { id: source }],
])('a request with such an expression is rejected: %s', (path, fields) => {
  const rejected = { ok: false, errors: { [path]: [expect.stringContaining('may lose digits')] } };
  expect(draftToken(expressions, { type: 'token', data: 'secret', ...fields }, 0)).toEqual(rejected);
  if (path !== 'id') expect(checkPatch(expressions, fields, 0)).toEqual(rejected);
});
