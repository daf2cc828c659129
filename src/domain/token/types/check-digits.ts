import { type Checked, invalid, valid } from '../../field-errors.js';
import type { Json } from '../../json.js';

/**
 * A string of `min` to `max` ASCII digits and nothing else. A JSON number is refused: it would have lost its leading
 * zeros, and above 2^53 its last digits too.
 */
export function checkDigits(value: Json | undefined, path: string, min: number, max: number): Checked<string> {
  if (value === undefined || value === null) return invalid(path, 'is required');
  const fits = typeof value === 'string' && value.length >= min && value.length <= max && /^[0-9]+$/.test(value);
  if (fits) return valid(value);
  return invalid(path, `must be a string of ${min === max ? min : `${min} to ${max}`} digits and nothing else`);
}
