import { characters } from '../characters.js';
import { Refusal } from '../refusal.js';
import type { RandomBelow } from '../scope.js';
import { aliasFilter } from './alias-filter.js';
import { count, optional } from './parameters.js';

const lowerCase = 'abcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';

/** `alias_preserve_format: first, last`: a letter becomes a letter of its case, a digit a digit, the rest stays. */
export const aliasPreserveFormat = preserving('alias_preserve_format', /[\p{L}\p{M}\p{N}]/u, (one, random) => {
  if (/\p{N}/u.test(one)) return pick(digits, random);
  const letter = pick(lowerCase, random);
  return /\p{Lu}/u.test(one) ? letter.toUpperCase() : letter;
});

/** `alias_preserve_length: first, last`: every character becomes a lower-case letter or a digit. */
export const aliasPreserveLength = preserving('alias_preserve_length', /./su, (_, random) =>
  pick(lowerCase + digits, random),
);

/** Keeps `first` and `last` characters and draws those between; refused when none would be drawn. */
function preserving(name: string, drawn: RegExp, draw: (character: string, random: RandomBelow) => string) {
  return aliasFilter(name, [optional(count, 0), optional(count, 0)], (text, [first, last], random) => {
    const all = characters(text);
    const isDrawn = (one: string, i: number) => i >= first && i < all.length - last && drawn.test(one);
    if (!all.some(isDrawn)) return new Refusal(`${name}: the value has no more characters than the alias would keep`);
    return all.map((one, i) => (isDrawn(one, i) ? draw(one, random) : one)).join('');
  });
}

function pick(alphabet: string, random: RandomBelow): string {
  return alphabet.charAt(random(alphabet.length));
}
