import { type Checked, errorsOf, invalid, valid } from '../../field-errors.js';
import { isJsonObject, type Json } from '../../json.js';
import { checkDigits } from './check-digits.js';
import { checkRoutingNumber } from './check-routing-number.js';
import type { CheckedData, TypeRule } from './type-rule.js';

function validate(data: Json): Checked<CheckedData> {
  if (!isJsonObject(data)) return invalid('data', 'must be a bank object');
  const errors = errorsOf([
    checkRoutingNumber(data['routing_number'], 'data.routing_number'),
    checkDigits(data['account_number'], 'data.account_number', 1, 17),
  ]);
  return errors === null ? valid({ data, cvc: null }) : { ok: false, errors };
}

function ownValues(data: Json): readonly string[] {
  const number = isJsonObject(data) ? data['account_number'] : undefined;
  return typeof number === 'string' ? [number] : [];
}

/** `bank`: `{ routing_number, account_number }`; further keys are kept as they are. Contract, section 3. */
export const bank: TypeRule = {
  validate,
  ownValues,
  ownValueDigitsMin: 1,
  defaultContainer: '/bank/high/',
  defaultFingerprintExpression: '{{ data.account_number }}|{{ data.routing_number }}',
  defaultMask: {
    routing_number: '{{ data.routing_number }}',
    account_number: '{{ data.account_number | reveal_last: 4 }}',
  },
  defaultMaskHidesShortValues: true,
  defaultSearchIndexes: [],
};
