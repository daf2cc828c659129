import { invalid, valid } from '../../field-errors.js';
import type { TypeRule } from './type-rule.js';

/** `token`: any JSON but null. Contract, section 3. */
export const genericToken: TypeRule = {
  validate: (data) => (data === null ? invalid('data', 'must not be null') : valid({ data, cvc: null })),
  ownValues: () => [],
  ownValueDigitsMin: null,
  defaultContainer: '/general/high/',
  defaultFingerprintExpression: '{{ data | stringify }}',
  defaultMask: null,
  defaultMaskHidesShortValues: false,
  defaultSearchIndexes: [],
};
