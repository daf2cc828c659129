/**
 * Letters and digits alone, every decimal digit as 0-9. Compatibility forms such as full-width letters and digits of
 * other scripts (Arabic-Indic) are folded. Threat: written otherwise, a number would slip past a comparison.
 */
export function bareText(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/\p{Nd}/gu, asciiDigit);
}

/** Unicode keeps the decimal digits of a script together, from zero to nine. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let first = code;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return String((code - first) % 10);
}
