import { codePoints } from '../characters.js';
import { binLength, isDigitCode } from './card-number.js';
import { textFilter } from './filter.js';
import { maskSomething } from './mask-characters.js';
import { character, flag, optional, text as textParameter } from './parameters.js';

/**
 * `card_mask: bin, last4, c, keep`: shows the BIN and the last four digits when switched on, and the characters of
 * `keep`; hides everything rather than nothing.
 */
export const cardMask = textFilter(
  'card_mask',
  [optional(flag, false), optional(flag, false), optional(character, 'X'), optional(textParameter, '')],
  (text, [showBin, showLast4, maskCharacter, keep]) => {
    const all = codePoints(text);
    const kept = new Set(codePoints(keep));
    const digits: number[] = [];
    for (let i = 0; i < all.length; i++) if (isDigitCode(all[i] ?? 0)) digits.push(i);
    const shown = new Set([
      ...(showBin ? digits.slice(0, binLength(digits.length)) : []),
      ...(showLast4 ? digits.slice(-4) : []),
    ]);
    return maskSomething(all, maskCharacter, (i, one) => shown.has(i) || kept.has(one));
  },
);
