import { valid } from '../../field-errors.js';
import { checkCardNumber } from './check-card-number.js';
import type { TypeRule } from './type-rule.js';

/** `card_number`: a string of 13-19 digits with a valid Luhn digit. Contract, section 3. */
export const cardNumber: TypeRule = {
  validate: (data) => {
    const number = checkCardNumber(data, 'data', 13);
    return number.ok ? valid({ data, cvc: null }) : number;
  },
  ownValues: (data) => (typeof data === 'string' ? [data] : []),
  ownValueDigitsMin: 13,
  defaultContainer: '/pci/high/',
  defaultFingerprintExpression: '{{ data }}',
  defaultMask: '{{ data | reveal_last: 4 }}',
  defaultMaskHidesShortValues: false,
  defaultSearchIndexes: [],
};
