import { jsonSize } from '../../expressions/json-size.js';
import { type Checked, invalid, valid } from '../../field-errors.js';
import type { Json, JsonObject } from '../../json.js';

const contentBytesMax = 512 * 1024;

/**
 * Rejects content whose JSON is larger than 512 KiB in UTF-8. The limit applies to data, mask, metadata and all other
 * fields together. The error is reported at `data`. Call this function before you evaluate any expression. See
 * docs/contract.md, "Request bodies".
 */
export function checkContentSize(content: JsonObject): Checked<null> {
  if (jsonSize(content, contentBytesMax) <= contentBytesMax) return valid(null);
  return invalid(
    'data',
    `data, mask, metadata and the rest together must take at most ${contentBytesMax} bytes as JSON`,
  );
}

/** The content fields of a request. */
type RawFields = {
  readonly data?: Json | undefined;
  readonly mask?: Json | undefined;
  readonly containers?: Json | undefined;
  readonly metadata?: Json | undefined;
  readonly search_indexes?: readonly string[] | null | undefined;
  readonly fingerprint_expression?: string | null | undefined;
};

/**
 * Does the same as `checkContentSize`, but for the fields of a request. Call this function before you traverse the data
 * or the mask.
 */
export function checkRawSize(fields: RawFields): Checked<null> {
  const { data, mask, containers, metadata, search_indexes, fingerprint_expression } = fields;
  const given = { data, mask, containers, metadata, search_indexes, fingerprint_expression };
  return checkContentSize(Object.fromEntries(Object.entries(given).filter(isGiven)));
}

function isGiven(entry: [string, RawFields[keyof RawFields]]): entry is [string, Json] {
  return entry[1] !== undefined;
}
