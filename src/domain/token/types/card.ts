import { type Checked, errorsOf, type FieldErrors, invalid, valid } from '../../field-errors.js';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../json.js';
import { printableKey } from '../../json-path.js';
import { passesLuhn } from '../../luhn.js';
import { type CheckedData, checkDigits, type TypeRule } from './type-rule.js';

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
  const stored: Record<string, Json> = { ...data };
  delete stored['cvc'];
  store(stored, 'expiration_month', month.value);
  store(stored, 'expiration_year', year.value);
  return valid({ data: stored, cvc: cvc.value });
}

/**
 * Stores an optional field. If its value is null, removes the field, because null counts as absent. Null values of
 * unknown keys are stored unchanged.
 */
function store(data: Record<string, Json>, key: string, value: number | null): void {
  if (value === null) delete data[key];
  else data[key] = value;
}

function ownValues(data: Json): readonly string[] {
  const number = isJsonObject(data) ? data['number'] : undefined;
  return typeof number === 'string' ? [number] : [];
}

/**
 * The rule for `card` data, which has the form `{ number, expiration_month?, expiration_year?, cvc? }`. Stores the
 * month and year as integers, and returns the cvc separately. Keeps other keys, but rejects keys that name verification
 * data. Accepts a past expiration. See docs/contract.md, "Card data".
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

/**
 * The rule for the type `card_number`. Its data is a string of 13-19 digits with a valid Luhn check digit. See
 * docs/contract.md, "Token types".
 */
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

/**
 * Checks a card number: `min` to 19 digits without separators, with a valid Luhn check digit. See docs/contract.md,
 * "Card data".
 */
export function checkCardNumber(value: Json | undefined, path: string, min: number): Checked<string> {
  const digits = checkDigits(value, path, min, 19);
  if (!digits.ok || passesLuhn(digits.value)) return digits;
  return invalid(path, 'is not a valid card number: its check digit is wrong');
}

/**
 * Checks a card verification code: a string or integer of 3-4 digits. Returns the code as a string, or null if it is
 * absent. Rejects an integer below 100, because the number of lost leading zeros is unknown. See docs/contract.md,
 * "Card data".
 */
function checkCvc(value: Json | undefined, path: string): Checked<string | null> {
  if (value === undefined || value === null) return valid(null);
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && /^[0-9]{3,4}$/.test(text)) return valid(text);
  return invalid(path, 'must be a string of 3 or 4 digits');
}

/**
 * Checks that the value is an integer from `min` to `max`, or a string that matches `shape` and contains such an
 * integer. Returns null if the value is absent or null.
 */
function checkIntegerOrDigits(
  value: Json | undefined,
  path: string,
  shape: RegExp,
  min: number,
  max: number,
): Checked<number | null> {
  if (value === undefined || value === null) return valid(null);
  const number = typeof value === 'string' && shape.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) return valid(number);
  return invalid(path, `must be a whole number from ${min} to ${max}`);
}

const forbidden: ReadonlySet<string> = new Set([
  'cvc',
  'cvv',
  'cvv2',
  'cvc2',
  'cid',
  'csc',
  'securitycode',
  'verificationvalue',
  'track',
  'track1',
  'track2',
  'trackdata',
  'pin',
  'pinblock',
]);

const errorsMax = 10;
/** All forbidden names are shorter than this. */
const nameCharactersMax = 64;
/**
 * Splits a key into parts, which are normalized one after the other. Threat: a caller sends a huge key, and normalizing
 * the whole key makes it many times longer.
 */
const parts = /.{1,64}/gsu;

/**
 * Rejects card verification data outside `data.cvc`, and reports the path of each occurrence (at most 10). Only the key
 * matters, not the value. Threat: a caller stores a code or a PIN under a different key. That code or PIN would never
 * be purged, although PCI DSS 3.3 forbids keeping verification data after authorization. See docs/contract.md, "Card
 * data".
 */
function checkNoVerificationData(data: JsonObject): Checked<null> {
  const errors: Record<string, readonly string[]> = {};
  for (const path of forbiddenPaths(data, 'data')) {
    errors[path] = ['card verification data is only accepted as data.cvc'];
    if (Object.keys(errors).length === errorsMax) break;
  }
  return Object.keys(errors).length === 0 ? valid(null) : { ok: false, errors: errors satisfies FieldErrors };
}

function* forbiddenPaths(value: Json, path: string): Generator<string> {
  if (isJsonArray(value)) {
    for (const [index, item] of value.entries()) {
      if (typeof item === 'object') yield* forbiddenPaths(item, `${path}[${index}]`);
    }
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      if (path === 'data' && key === 'cvc') continue;
      const isBad = isForbidden(key);
      const child = value[key] ?? null;
      // Most members need no path. Computing the path takes longer than checking the key.
      if (!isBad && typeof child !== 'object') continue;
      const childPath = `${path}.${printableKey(key)}`;
      if (isBad) yield childPath;
      else yield* forbiddenPaths(child, childPath);
    }
  }
}

function isForbidden(key: string): boolean {
  let name = '';
  for (const part of key.match(parts) ?? []) {
    name += bareName(part);
    if (name.length > nameCharactersMax) return false;
  }
  return forbidden.has(name);
}

/**
 * Returns only the visible letters and digits of a key, in lower case. Normalizes compatibility forms, such as
 * full-width or circled letters.
 */
function bareName(key: string): string {
  return key
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]|\p{Default_Ignorable_Code_Point}/gu, '');
}
