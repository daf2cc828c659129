import { type Checked, errorsOf, invalid, valid } from '../../field-errors.js';
import { memberPath } from '../../json-path.js';

const digitsMin = 6;

/**
 * The fields that must not contain any of the token's own values. `givenId` is null if the vault generated the id. A
 * generated id is not checked, because a random id may by chance contain the digits of one of these values.
 */
export type OpenFields = {
  readonly givenId: string | null;
  readonly containers: readonly string[];
  readonly metadata: Readonly<Record<string, string>> | null;
};

/**
 * Rejects an id, container, metadata key or metadata value that contains any of the token's own values, however the
 * digits are grouped. Ignores values with fewer than six characters. Threat: a caller that may not see the data reads
 * one of the values from one of these fields. Keyed hashes of these fields also remain after the token is erased.
 * `ownValues` comes from the `TypeRule` of the token type. See docs/contract.md, "Own values".
 */
export function rejectEmbeddedValue(ownValues: readonly string[], fields: OpenFields): Checked<null> {
  const values = ownValues.map(bareText).filter((value) => value.length >= digitsMin);
  if (values.length === 0) return valid(null);
  const refuse = (path: string, text: string): Checked<null> => {
    const bare = bareText(text);
    if (!values.some((value) => bare.includes(value))) return valid(null);
    return invalid(path, "must not contain the token's own value");
  };
  const errors = errorsOf([
    ...(fields.givenId === null ? [] : [refuse('id', fields.givenId)]),
    ...fields.containers.map((container, i) => refuse(`containers[${i}]`, container)),
    ...Object.entries(fields.metadata ?? {}).map(([key, value]) => refuseEntry(key, value, refuse)),
  ]);
  return errors === null ? valid(null) : { ok: false, errors };
}

/**
 * Checks a metadata entry. If the key contains any of the token's own values, the path of the error must not repeat the
 * key.
 */
function refuseEntry(key: string, value: string, refuse: (path: string, text: string) => Checked<null>): Checked<null> {
  const inKey = refuse('metadata', key);
  return inKey.ok ? refuse(memberPath('metadata', key), value) : inKey;
}

/**
 * Checks an update by a caller that may not see the stored value and does not replace it. New containers and new or
 * changed metadata must not contain any run of digits that could be a value of this type, regardless of the actual
 * value. Threat: a caller tries thousands of candidates to find the actual value. This would work if the result of the
 * check depended on that value. `ownValueDigitsMin` comes from the `TypeRule` of the token type.
 */
export function rejectPossibleEmbeddedValue(
  ownValueDigitsMin: number | null,
  before: Omit<OpenFields, 'givenId'>,
  after: Omit<OpenFields, 'givenId'>,
): Checked<null> {
  if (ownValueDigitsMin === null) return valid(null);
  const length = Math.max(digitsMin, ownValueDigitsMin);
  const run = new RegExp(`[0-9]{${length}}`);
  const refuse = (path: string, texts: readonly string[]): Checked<null> =>
    texts.some((text) => run.test(bareText(text)))
      ? invalid(
          path,
          `only a caller that may see this token in plaintext may write ${length} or more digits in a row here`,
        )
      : valid(null);
  const known = new Map(Object.entries(before.metadata ?? {}));
  const written = Object.entries(after.metadata ?? {}).filter(([key, value]) => known.get(key) !== value);
  const errors = errorsOf([
    refuse(
      'containers',
      after.containers.filter((container) => !before.containers.includes(container)),
    ),
    refuse(
      'metadata',
      written.flatMap(([key, value]) => (known.has(key) ? [value] : [key, value])),
    ),
  ]);
  return errors === null ? valid(null) : { ok: false, errors };
}

/**
 * Returns only the letters and digits of the text. Normalizes compatibility forms, such as full-width letters, and
 * converts the decimal digits of other scripts, such as Arabic-Indic, to 0-9. Threat: a caller writes a number in a
 * different script to evade the comparison.
 */
export function bareText(text: string): string {
  if (ascii.test(text)) return text.replace(/[^0-9A-Za-z]/g, '');
  return text
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/\p{Nd}/gu, asciiDigit);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII includes the control characters
const ascii = /^[\x00-\x7f]*$/;

/**
 * Converts a decimal digit of any script to ASCII. In Unicode, the decimal digits of each script are consecutive, from
 * zero to nine.
 */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let first = code;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return String((code - first) % 10);
}
