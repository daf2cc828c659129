import { valid } from '../../field-errors.js';
import { checkDigits } from './check-digits.js';
import type { TypeRule } from './type-rule.js';

/** `us_bank_account_number`: a string of 3-17 digits. Contract, section 3. */
export const usBankAccountNumber: TypeRule = {
  validate: (data) => {
    const number = checkDigits(data, 'data', 3, 17);
    return number.ok ? valid({ data, cvc: null }) : number;
  },
  ownValues: (data) => (typeof data === 'string' ? [data] : []),
  ownValueDigitsMin: 3,
  defaultContainer: '/bank/high/',
  defaultFingerprintExpression: '{{ data }}',
  defaultMask: '{{ data | reveal_last: 4 }}',
  defaultMaskHidesShortValues: true,
  defaultSearchIndexes: [],
};
