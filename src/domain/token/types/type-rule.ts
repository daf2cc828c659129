import { type Checked, invalid, valid } from '../../field-errors.js';
import type { Json } from '../../json.js';

/** The data to store, and the cvc that was removed from it. A cvc is always encrypted separately from other data. */
export type CheckedData = { readonly data: Json; readonly cvc: string | null };

/** The properties that distinguish one token type from the others. See docs/contract.md, "Token types". */
export type TypeRule = {
  /** Checks and normalizes data on creation and after a merge patch. Error paths start with `data`. */
  readonly validate: (data: Json) => Checked<CheckedData>;
  /**
   * Returns the values in validated data that must not occur in ids, containers or metadata
   * (`fields/embedded-value.ts`).
   */
  readonly ownValues: (data: Json) => readonly string[];
  /** The number of digits in the shortest own value, or null if the type has no own values. */
  readonly ownValueDigitsMin: number | null;
  readonly defaultContainer: string;
  readonly defaultFingerprintExpression: string;
  /** Null means that tokens of this type have no default mask, so a masked read redacts their data. */
  readonly defaultMask: Json;
  /**
   * Whether the default mask completely hides values of at most four digits. If false, the filter in the default mask
   * shows such a value completely.
   */
  readonly defaultMaskHidesShortValues: boolean;
  readonly defaultSearchIndexes: readonly string[];
};

/**
 * Checks a string of `min` to `max` ASCII digits. Rejects JSON numbers, because a number may have lost its leading
 * zeros and, above 2^53, its last digits.
 */
export function checkDigits(value: Json | undefined, path: string, min: number, max: number): Checked<string> {
  if (value === undefined || value === null) return invalid(path, 'is required');
  const fits = typeof value === 'string' && value.length >= min && value.length <= max && /^[0-9]+$/.test(value);
  if (fits) return valid(value);
  return invalid(path, `must be a string of ${min === max ? min : `${min} to ${max}`} digits and nothing else`);
}
