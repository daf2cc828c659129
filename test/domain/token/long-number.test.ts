import { expect, it } from 'vitest';
import { createExpressions } from '#src/domain/expressions/expressions.js';
import { draftToken } from '#src/domain/token/draft-token.js';
import { checkPatch } from '#src/domain/token/draft-update.js';

const expressions = createExpressions();
const source = '{{ data | append: 12345678901234567890 }}';

it.each([
  ['mask.a', { mask: { a: source } }],
  ['search_indexes[0]', { search_indexes: [source] }],
  ['fingerprint_expression', { fingerprint_expression: source }],
  ['id', { id: source }],
])('a request whose expression has a number that loses digits is rejected: %s', (path, fields) => {
  const rejected = { ok: false, errors: { [path]: [expect.stringContaining('may lose digits')] } };
  expect(draftToken(expressions, { type: 'token', data: 'secret', ...fields }, 0)).toEqual(rejected);
  if (path !== 'id') expect(checkPatch(expressions, fields, 0)).toEqual(rejected);
});
