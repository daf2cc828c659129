import { expect, test } from 'vitest';
import { nameable } from '#src/domain/detokenize/nameable.js';

test.each([
  ['5f0c2f2e-5d55-4c0f-8b0a-3c1b2a4d5e6f', true],
  ['12345678-1234-4234-8234-123456789012', true],
  ['customer-20260131-1', true],
  ['order 4242', true],
  ["o'brien", true],
  ['4242424242424242', false],
  ['4242-4242 4242-4242', false],
  ['card 4242424242424242', false],
  ['123-45-6789', false],
  ['१२३४५६', false],
  ['a/b', false],
  ['x', false],
  ['{{', false],
])('for the unknown id %j, the error may repeat the id: %j', (id, expected) => {
  expect(nameable(id)).toBe(expected);
});
