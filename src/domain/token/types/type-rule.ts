import { type Checked, invalid, valid } from '../../field-errors.js';
import type { Json } from '../../json.js';

/** The data to store, and the cvc taken out of it: a cvc is always encrypted separately from other data. */
export type CheckedData = { readonly data: Json; readonly cvc: string | null };

/** What makes one token type different from the others. See docs/contract.md, "Token types". */
export type TypeRule = {
  /** Checks and normalises data at creation and after a merge patch; error paths start with `data`. */
  readonly validate: (data: Json) => Checked<CheckedData>;
  /** The values of validated data that must not occur in an id, a container or metadata (fields/embedded-value.ts). */
  readonly ownValues: (data: Json) => readonly string[];
  /** The number of digits of the shortest own value; null if the type has no own values. */
  readonly ownValueDigitsMin: number | null;
  readonly defaultContainer: string;
  readonly defaultFingerprintExpression: string;
  /** Null: tokens of this type have no default mask, so a masked read redacts them. */
  readonly defaultMask: Json;
  /** The default mask hides all of a value where its filter would hide nothing (numbers of 4 digits or fewer). */
  readonly defaultMaskHidesShortValues: boolean;
  readonly defaultSearchIndexes: readonly string[];
};

/**
 * Checks a string of `min` to `max` ASCII digits. A JSON number is rejected: it would have lost its leading zeros, and
 * above 2^53 also its last digits.
 */
export function checkDigits(value: Json | undefined, path: string, min: number, max: number): Checked<string> {
  if (value === undefined || value === null) return invalid(path, 'is required');
  const fits = typeof value === 'string' && value.length >= min && value.length <= max && /^[0-9]+$/.test(value);
  if (fits) return valid(value);
  return invalid(path, `must be a string of ${min === max ? min : `${min} to ${max}`} digits and nothing else`);
}
