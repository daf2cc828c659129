import { valid } from '../../field-errors.js';
import { checkRoutingNumber } from './check-routing-number.js';
import type { TypeRule } from './type-rule.js';

/**
 * `us_bank_routing_number`: a string, nine digits with the ABA checksum. A routing number names a bank, not a person;
 * so it may stand in ids and metadata. Contract, section 3.
 */
export const usBankRoutingNumber: TypeRule = {
  validate: (data) => {
    const number = checkRoutingNumber(data, 'data');
    return number.ok ? valid({ data, cvc: null }) : number;
  },
  ownValues: () => [],
  ownValueDigitsMin: null,
  defaultContainer: '/bank/low/',
  defaultFingerprintExpression: '{{ data }}',
  defaultMask: '{{ data | reveal_last: 4 }}',
  defaultMaskHidesShortValues: false,
  defaultSearchIndexes: [],
};
