import { type Checked, invalid, valid } from '../../field-errors.js';
import type { Json } from '../../json.js';

/**
 * A card verification code: a string or integer of 3-4 digits, kept as the string; null when absent. An integer under
 * 100 is refused, because nobody can tell how many zeros it lost. Contract, section 3.
 */
export function checkCvc(value: Json | undefined, path: string): Checked<string | null> {
  if (value === undefined || value === null) return valid(null);
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && /^[0-9]{3,4}$/.test(text)) return valid(text);
  return invalid(path, 'must be a string of 3 or 4 digits');
}
