import { type Checked, invalid, valid } from '../../field-errors.js';
import type { Json } from '../../json.js';
import { bank, usBankAccountNumber, usBankRoutingNumber } from './bank.js';
import { card, cardNumber } from './card.js';
import type { TokenType } from './token-type.js';
import type { CheckedData, TypeRule } from './type-rule.js';

/** The rule for `token`, which accepts any JSON value except null. See docs/contract.md, "Token types". */
const genericToken: TypeRule = {
  validate: (data) => (data === null ? invalid('data', 'must not be null') : valid({ data, cvc: null })),
  ownValues: () => [],
  ownValueDigitsMin: null,
  defaultContainer: '/general/high/',
  defaultFingerprintExpression: '{{ data | stringify }}',
  defaultMask: null,
  defaultMaskHidesShortValues: false,
  defaultSearchIndexes: [],
};

/** Matches nine digits with optional single hyphens between them (`123-45-6789`, `12-3456789`, `123456789`). */
const nineDigits = /^[0-9](?:-?[0-9]){8}$/;

function validate(data: Json): Checked<CheckedData> {
  if (data === null) return invalid('data', 'is required');
  if (typeof data === 'string' && nineDigits.test(data)) return valid({ data, cvc: null });
  return invalid('data', 'must be a string of 9 digits; hyphens between them are allowed');
}

/** The rule for both `social_security_number` and `employer_id_number`. See docs/contract.md, "Token types". */
const taxNumber: TypeRule = {
  validate,
  ownValues: (data) => (typeof data === 'string' ? [data] : []),
  ownValueDigitsMin: 9,
  defaultContainer: '/pii/high/',
  defaultFingerprintExpression: "{{ data | remove: '-' }}",
  defaultMask: '{{ data | reveal_last: 4 }}',
  defaultMaskHidesShortValues: false,
  defaultSearchIndexes: ['{{ data }}', "{{ data | remove: '-' }}", '{{ data | last4 }}'],
};

/** The rule for each token type. See docs/contract.md, "Token types". */
export const typeRules: Readonly<Record<TokenType, TypeRule>> = {
  token: genericToken,
  card,
  bank,
  card_number: cardNumber,
  us_bank_account_number: usBankAccountNumber,
  us_bank_routing_number: usBankRoutingNumber,
  social_security_number: taxNumber,
  employer_id_number: taxNumber,
};
