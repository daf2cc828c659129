import { codePoints } from '../characters.js';
import { textFilter } from './filter.js';
import { maskCharacters } from './mask-characters.js';
import { character, count, optional } from './parameters.js';

const hyphen = 0x2d;

/**
 * `reveal_last: n, c`: masks all but the last n characters and `-`. A value of n or fewer characters is returned whole,
 * as clients of such vaults expect; only the default masks of bank accounts hide it (`hideShortValues`).
 */
export const revealLast = textFilter(
  'reveal_last',
  [count, optional(character, 'X')],
  (text, [shownCount, maskCharacter], { hideShortValues }) => {
    const all = codePoints(text);
    if (all.length <= shownCount) return hideShortValues ? maskCharacters(all, maskCharacter, () => false) : text;
    return maskCharacters(all, maskCharacter, (i, one) => one === hyphen || i >= all.length - shownCount);
  },
);
