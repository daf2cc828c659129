/**
 * Returns the length of a string in characters. As in all length limits, a character is a Unicode code point
 * (docs/contract.md, "Terms").
 */
export function codePointCount(text: string): number {
  // In a Latin-1 string, each UTF-16 code unit is one code point. Most long strings are Latin-1.
  if (text.length > 10_000 && latin1Bytes(text) !== null) return text.length;
  let count = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    const next = text.charCodeAt(i + 1);
    if (unit >= 0xd800 && unit <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) i += 1;
    count += 1;
  }
  return count;
}

/**
 * Returns the string in Latin-1, with one byte per character. Returns null if Latin-1 does not contain all of its
 * characters.
 */
export function latin1Bytes(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'latin1');
  return bytes.toString('latin1') === text ? bytes : null;
}

/**
 * Returns whether a string is well-formed Unicode, which means that it contains no lone surrogates. UTF-8 cannot encode
 * lone surrogates, so different strings that contain them would be stored as the same value.
 */
export function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}

/**
 * Returns a number with its noun for a message: `1 event`, `1,234 events`. Pass `many` if the plural is not the
 * singular plus an s.
 */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** Returns a number with commas as thousands separators. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

/** The maximum number of names that `firstOf` lists. */
export const namedMax = 10;

/** Lists the first ten names, and states how many more there are. `total` is the number of all names. */
export function firstOf(names: readonly string[], total = names.length): string {
  const first = names.slice(0, namedMax);
  return [...first, ...(total > first.length ? [`and ${grouped(total - first.length)} more`] : [])].join('; ');
}

/** Returns a sentence with its first letter in lower case, as the messages of the command line begin. */
export function inLowerCase(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
