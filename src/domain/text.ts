/**
 * How many characters a text has, counted as Unicode code points, in the way of every length limit (docs/contract.md,
 * "Terms").
 */
export function codePointCount(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    const next = text.charCodeAt(i + 1);
    if (unit >= 0xd800 && unit <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) i += 1;
    count += 1;
  }
  return count;
}

/** False for a text with a lone surrogate: UTF-8 cannot carry it, so two such texts would end as one stored value. */
export function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}
