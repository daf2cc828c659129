import { type Checked, invalid, valid } from '../../field-errors.js';
import type { Json } from '../../json.js';
import type { CheckedData, TypeRule } from './type-rule.js';

/** Nine digits; single hyphens may stand anywhere between them (`123-45-6789`, `12-3456789`, `123456789`). */
const nineDigits = /^[0-9](?:-?[0-9]){8}$/;

function validate(data: Json): Checked<CheckedData> {
  if (data === null) return invalid('data', 'is required');
  if (typeof data === 'string' && nineDigits.test(data)) return valid({ data, cvc: null });
  return invalid('data', 'must be a string of 9 digits; hyphens between them are allowed');
}

/** `social_security_number` and `employer_id_number`, which follow the same rules. Contract, section 3. */
export const taxNumber: TypeRule = {
  validate,
  ownValues: (data) => (typeof data === 'string' ? [data] : []),
  ownValueDigitsMin: 9,
  defaultContainer: '/pii/high/',
  defaultFingerprintExpression: "{{ data | remove: '-' }}",
  defaultMask: '{{ data | reveal_last: 4 }}',
  defaultMaskHidesShortValues: false,
  defaultSearchIndexes: ['{{ data }}', "{{ data | remove: '-' }}", '{{ data | last4 }}'],
};
