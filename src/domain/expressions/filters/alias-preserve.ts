import { characters } from '../characters.js';
import { Refusal } from '../refusal.js';
import type { RandomBelow } from '../scope.js';
import { textFilter } from './filter.js';
import { count, optional } from './parameters.js';
import { randomSource } from './random-source.js';

const lowerCase = 'abcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';

/** `alias_preserve_format: first, last`: a letter becomes a letter of its case, a digit a digit, the rest stays. */
export const aliasPreserveFormat = aliasFilter('alias_preserve_format', (one, random) => {
  if (/\p{N}/u.test(one)) return pick(digits, random);
  if (/\p{Lu}/u.test(one)) return pick(lowerCase, random).toUpperCase();
  return /[\p{L}\p{M}]/u.test(one) ? pick(lowerCase, random) : one;
});

/** `alias_preserve_length: first, last`: every character becomes a lower-case letter or a digit. */
export const aliasPreserveLength = aliasFilter('alias_preserve_length', (_, random) =>
  pick(lowerCase + digits, random),
);

/** Keeps `first` and `last` characters and draws those between; refused when no letter or digit would be drawn. */
function aliasFilter(name: string, draw: (character: string, random: RandomBelow) => string) {
  return textFilter(
    name,
    [optional(count, 0), optional(count, 0)],
    (text, [first, last], scope) => {
      const random = randomSource(scope);
      const all = characters(text);
      const end = all.length - last;
      if (!all.slice(first, Math.max(first, end)).some((one) => /[\p{L}\p{N}]/u.test(one))) {
        return new Refusal(`${name}: the value has no more characters than the alias would keep`);
      }
      return all.map((one, i) => (i < first || i >= end ? one : draw(one, random))).join('');
    },
    { random: true },
  );
}

function pick(alphabet: string, random: RandomBelow): string {
  return alphabet.charAt(random(alphabet.length));
}
