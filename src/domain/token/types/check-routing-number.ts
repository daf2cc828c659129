import { type Checked, invalid } from '../../field-errors.js';
import type { Json } from '../../json.js';
import { checkDigits } from './check-digits.js';

const weights = [3, 7, 1, 3, 7, 1, 3, 7, 1];

/**
 * A nine-digit ABA routing number: the sum of its digits weighted 3, 7, 1 is a multiple of ten. All zeros would pass
 * that and is nobody's number, so it is refused. Contract, section 3.
 */
export function checkRoutingNumber(value: Json | undefined, path: string): Checked<string> {
  const digits = checkDigits(value, path, 9, 9);
  if (!digits.ok) return digits;
  const sum = weights.reduce((total, weight, i) => total + weight * (digits.value.charCodeAt(i) - 48), 0);
  if (sum > 0 && sum % 10 === 0) return digits;
  return invalid(path, 'is not a valid ABA routing number: its checksum is wrong');
}
