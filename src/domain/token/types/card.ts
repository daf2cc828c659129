import { type Checked, errorsOf, invalid, valid } from '../../field-errors.js';
import { isJsonObject, type Json } from '../../json.js';
import { checkCardNumber } from './check-card-number.js';
import { checkCvc } from './check-cvc.js';
import { checkIntegerOrDigits } from './check-integer-or-digits.js';
import { checkNoVerificationData } from './check-no-verification-data.js';
import type { CheckedData, TypeRule } from './type-rule.js';

function validate(data: Json): Checked<CheckedData> {
  if (!isJsonObject(data)) return invalid('data', 'must be a card object');
  const number = checkCardNumber(data['number'], 'data.number', 12);
  const month = checkIntegerOrDigits(data['expiration_month'], 'data.expiration_month', /^[0-9]{1,2}$/, 1, 12);
  const year = checkIntegerOrDigits(data['expiration_year'], 'data.expiration_year', /^[0-9]{4}$/, 1000, 9999);
  const cvc = checkCvc(data['cvc'], 'data.cvc');
  const others = checkNoVerificationData(data);
  if (!(number.ok && month.ok && year.ok && cvc.ok && others.ok)) {
    return { ok: false, errors: errorsOf([number, month, year, cvc, others]) ?? {} };
  }
  const stored = new Map<string, Json>(Object.entries(data));
  stored.delete('cvc');
  store(stored, 'expiration_month', month.value);
  store(stored, 'expiration_year', year.value);
  return valid({ data: Object.fromEntries(stored), cvc: cvc.value });
}

/** An optional field given as null counts as absent; nulls under keys that we do not know are the caller's own. */
function store(data: Map<string, Json>, key: string, value: number | null): void {
  if (value === null) data.delete(key);
  else data.set(key, value);
}

function ownValues(data: Json): readonly string[] {
  const number = isJsonObject(data) ? data['number'] : undefined;
  return typeof number === 'string' ? [number] : [];
}

/**
 * `card`: `{ number, expiration_month?, expiration_year?, cvc? }`. Month and year are stored as integers, the cvc comes
 * back apart, further keys are kept unless they hold verification data. A past expiration is accepted. Contract,
 * section 3.
 */
export const card: TypeRule = {
  validate,
  ownValues,
  ownValueDigitsMin: 12,
  defaultContainer: '/pci/high/',
  defaultFingerprintExpression: '{{ data.number }}',
  defaultMask: {
    number: '{{ data.number | reveal_last: 4 }}',
    expiration_month: '{{ data.expiration_month }}',
    expiration_year: '{{ data.expiration_year }}',
  },
  defaultMaskHidesShortValues: false,
  defaultSearchIndexes: [],
};
