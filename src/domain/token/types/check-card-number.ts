import { type Checked, invalid } from '../../field-errors.js';
import type { Json } from '../../json.js';
import { passesLuhn } from '../../luhn.js';
import { checkDigits } from './check-digits.js';

/** A card number without separators: `min` to 19 digits with a valid Luhn digit. Contract, section 3. */
export function checkCardNumber(value: Json | undefined, path: string, min: number): Checked<string> {
  const digits = checkDigits(value, path, min, 19);
  if (!digits.ok || passesLuhn(digits.value)) return digits;
  return invalid(path, 'is not a valid card number: its check digit is wrong');
}
