import { expect, test } from 'vitest';
import { nameable } from '#src/domain/detokenize/nameable.js';

test.each([
  ['5f0c2f2e-5d55-4c0f-8b0a-3c1b2a4d5e6f', true],
  ['12345678-1234-4234-8234-123456789012', true],
  ['customer-5f0c2f2e-5d55-4c0f-8b0a-3c1b2a4d5e6f', true],
  ['customer-20260131', true],
  ['customer-20260131-1', false],
  ['order 4242', true],
  ["o'brien", true],
  ['4242424242424242', false],
  ['4242-4242 4242-4242', false],
  ['card 4242424242424242', false],
  ['card 4242.4242.4242.4242', false],
  ['card 4242_4242_4242_4242', false],
  ['card 4242\u00a04242\u00a04242\u00a04242', false],
  ['card 4242  4242  4242  4242', false],
  ['card 4242–4242–4242–4242', false],
  ['card 4242:4242:4242:4242', false],
  ['card ４２４２４２４２４２４２４２４２', false],
  ['1 4242424242424242 x', false],
  ['ssn123456789', false],
  ['acct 000123456789', false],
  ['GB29NWBK60161331926819', false],
  ['4242424242424242 5f0c2f2e-5d55-4c0f-8b0a-3c1b2a4d5e6f', false],
  ['424242424242424212345678-1234-4234-8234-123456789012', false],
  ['123-45-6789', false],
  ['१२३४५६', false],
  ['a/b', false],
  ['x', false],
  ['{{', false],
])('for the unknown id %j, the error may repeat the id: %j', (id, expected) => {
  expect(nameable(id)).toBe(expected);
});
