import { binLength, isDigit, isDigitCode } from './card-number.js';
import { textFilter } from './filter.js';
import { character, optional } from './parameters.js';

/**
 * The first 6 digits of a number under 16 digits, else the first 8. A separator, when given, does not count and stays;
 * other characters are left out. Null when the BIN would be the whole number.
 */
export function cardBin(number: string, separator = ''): string | null {
  let digitCount = 0;
  for (let i = 0; i < number.length; i++) if (isDigitCode(number.charCodeAt(i))) digitCount++;
  const length = binLength(digitCount);
  if (digitCount <= length) return null;
  let bin = '';
  let taken = 0;
  for (const one of number) {
    if (taken === length) break;
    if (isDigit(one)) taken++;
    if (isDigit(one) || one === separator) bin += one;
  }
  return bin;
}

export const cardBinFilter = textFilter('card_bin', [optional(character, '')], (text, [separator]) =>
  cardBin(text, separator),
);
