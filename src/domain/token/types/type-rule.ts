import type { Checked } from '../../field-errors.js';
import type { Json } from '../../json.js';

/** Data fit to be stored, and the cvc taken out of it: a cvc lives in a box of its own, never beside other data. */
export type CheckedData = { readonly data: Json; readonly cvc: string | null };

/** What makes one token type different from the others. Contract, section 3 "Types". */
export type TypeRule = {
  /** Checks and normalises data at creation and after a merge patch; error paths start with `data`. */
  readonly validate: (data: Json) => Checked<CheckedData>;
  /** The values of validated data that must not show up in an id, a container or metadata (see fields/own-value). */
  readonly ownValues: (data: Json) => readonly string[];
  /** Digits of the shortest own value; null: the type has no own values. */
  readonly ownValueDigitsMin: number | null;
  readonly defaultContainer: string;
  readonly defaultFingerprintExpression: string;
  /** null: tokens of this type have no mask of their own, so a masked read redacts them. */
  readonly defaultMask: Json;
  /** The default mask must hide a whole value where its filter alone would hide nothing (numbers of 4 digits or fewer). */
  readonly defaultMaskHidesShortValues: boolean;
  readonly defaultSearchIndexes: readonly string[];
};
