import { type Checked, invalid, valid } from '../../field-errors.js';
import type { Json } from '../../json.js';

/** An integer from `min` to `max`, or the same as a string of the given shape; null when absent or null. */
export function checkIntegerOrDigits(
  value: Json | undefined,
  path: string,
  shape: RegExp,
  min: number,
  max: number,
): Checked<number | null> {
  if (value === undefined || value === null) return valid(null);
  const number = typeof value === 'string' && shape.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) return valid(number);
  return invalid(path, `must be an integer from ${min} to ${max}`);
}
