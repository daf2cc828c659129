import { expect, it, vi } from 'vitest';
import { createExpressions } from '#src/domain/expressions/expressions.js';
import { finish } from '#src/domain/steps.js';
import type { TokenContent } from '#src/domain/token/content.js';
import { draftToken } from '#src/domain/token/draft-token.js';
import { checkPatch, draftUpdate } from '#src/domain/token/draft-update.js';
import { typeRules } from '#src/domain/token/types/type-rules.js';

const half = 'x'.repeat(300 * 1024);
const content: TokenContent = {
  id: 'id',
  type: 'card',
  data: { number: '4242424242424242', a: half },
  mask: null,
  containers: ['/a/'],
  metadata: null,
  search_indexes: null,
  fingerprint_expression: '{{ data.number }}',
  fingerprint: 'f',
};
const number = '4242424242424242';

it.each<[what: string, check: (expressions: ReturnType<typeof createExpressions>) => unknown]>([
  ['created', (e) => draftToken(e, { type: 'card', data: { number, a: half }, mask: [half] }, 0)],
  ['sent as a patch', (e) => checkPatch(e, { data: { b: half }, mask: [half] }, 0)],
  ['merged', (e) => finish(draftUpdate(e, { content, expiresAt: null, hasCvc: false }, { data: { b: half } }, 0))],
])('content that is too large is rejected before its data and mask are traversed: %s', (_what, check) => {
  const expressions = createExpressions();
  const parseMask = vi.fn(expressions.parseMask);
  const validate = vi.spyOn(typeRules.card, 'validate');
  try {
    const rejected = { ok: false, errors: { data: [expect.any(String)] } };
    expect(check({ ...expressions, parseMask })).toMatchObject(rejected);
    expect(parseMask).not.toHaveBeenCalled();
    expect(validate).not.toHaveBeenCalled();
  } finally {
    validate.mockRestore();
  }
});
