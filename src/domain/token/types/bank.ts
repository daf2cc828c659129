import { type Checked, errorsOf, invalid, valid } from '../../field-errors.js';
import { isJsonObject, type Json } from '../../json.js';
import { type CheckedData, checkDigits, type TypeRule } from './type-rule.js';

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

/**
 * The rule for `bank` data, which has the form `{ routing_number, account_number }`. Other keys are stored unchanged.
 * See docs/contract.md, "Bank data".
 */
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

/**
 * The rule for the type `us_bank_account_number`. Its data is a string of 3-17 digits. See docs/contract.md, "Token
 * types".
 */
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

/**
 * The rule for the type `us_bank_routing_number`. Its data is a string of nine digits with the ABA checksum. A routing
 * number identifies a bank, not a person, so ids and metadata may contain it. See docs/contract.md, "Own values".
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

const weights = [3, 7, 1, 3, 7, 1, 3, 7, 1];

/**
 * Checks a nine-digit ABA routing number: the sum of its digits, weighted 3, 7, 1, must be a multiple of ten. Rejects
 * nine zeros, which pass that check but are not a routing number. See docs/contract.md, "Bank data".
 */
export function checkRoutingNumber(value: Json | undefined, path: string): Checked<string> {
  const digits = checkDigits(value, path, 9, 9);
  if (!digits.ok) return digits;
  const sum = weights.reduce((total, weight, i) => total + weight * (digits.value.charCodeAt(i) - 48), 0);
  if (sum > 0 && sum % 10 === 0) return digits;
  return invalid(path, 'is not a valid ABA routing number: its checksum is wrong');
}
