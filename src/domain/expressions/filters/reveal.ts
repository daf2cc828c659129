import { codePoints } from '../characters.js';
import { textFilter } from './filter.js';
import { maskSomething } from './mask-characters.js';
import { character, count, optional, text as textParameter } from './parameters.js';

/** `reveal: first, last, c, keep`: masks the middle; hides everything rather than nothing. */
export const reveal = textFilter(
  'reveal',
  [optional(count, 0), optional(count, 0), optional(character, 'X'), optional(textParameter, '')],
  (text, [first, last, maskCharacter, keep]) => {
    const all = codePoints(text);
    const kept = new Set(codePoints(keep));
    return maskSomething(all, maskCharacter, (i, one) => i < first || i >= all.length - last || kept.has(one));
  },
);
