import { passesLuhn } from '../luhn.js';
import { codePointCount } from '../text.js';
import { spendWork } from './budget.js';
import { characters } from './characters.js';
import { count, type Filter, flag, optional, type Parameter, textFilter, type ValuesOf } from './filter.js';
import { limits } from './limits.js';
import { binLength, digitPositions, isDigit } from './masks.js';
import { Refusal } from './refusal.js';
import type { RandomBelow } from './scope.js';

/**
 * `alias_card: bin, last4` replaces digits with random digits. The length and the separators stay the same. The BIN is
 * kept if `bin` is true, and the last four digits are kept if `last4` is true. The filter rejects a value if no digit
 * in it would be replaced. The result never passes the Luhn check. An alias that passed the check could not be
 * distinguished from another person's card number.
 */
const aliasCard = aliasFilter(
  'alias_card',
  [optional(flag, false), optional(flag, false)],
  (text, [keepBin, keepLast4], random) => {
    // Rejects other characters, because the alias would contain them unchanged. The alias becomes the token's id, and
    // ids are not secret.
    if (!/^[\d .-]*$/.test(text)) return new Refusal('alias_card: the value holds more than digits and separators');
    const all = characters(text);
    const positions = digitPositions(all);
    const hidden = positions.slice(
      keepBin ? binLength(positions.length) : 0,
      keepLast4 ? Math.max(0, positions.length - 4) : positions.length,
    );
    const [first] = hidden;
    if (first === undefined) return new Refusal('alias_card: the alias would keep every digit of the value');
    for (const position of hidden) all[position] = String(random(10));
    // Changing any single digit of a number that passes the Luhn check makes the number fail the check.
    if (passesLuhn(all.filter(isDigit).join(''))) all[first] = String((Number(all[first]) + 1) % 10);
    return all.join('');
  },
);

const lowerCase = 'abcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';

/**
 * `alias_preserve_format: first, last` replaces letters with random letters of the same case, and digits with random
 * digits.
 */
const aliasPreserveFormat = preserving('alias_preserve_format', /[\p{L}\p{M}\p{N}]/u, (one, random) => {
  if (/\p{N}/u.test(one)) return pick(digits, random);
  const letter = pick(lowerCase, random);
  return /\p{Lu}/u.test(one) ? letter.toUpperCase() : letter;
});

/** `alias_preserve_length: first, last` replaces each character with a random lower-case letter or digit. */
const aliasPreserveLength = preserving('alias_preserve_length', /./su, (_, random) => pick(lowerCase + digits, random));

/**
 * Creates a filter that keeps the first `first` and the last `last` characters, and replaces the characters in between
 * with random ones. The filter rejects a value in which it would replace no characters.
 */
function preserving(name: string, drawn: RegExp, draw: (character: string, random: RandomBelow) => string) {
  return aliasFilter(name, [optional(count, 0), optional(count, 0)], (text, [first, last], random) => {
    const all = characters(text);
    const isDrawn = (one: string, i: number) => i >= first && i < all.length - last && drawn.test(one);
    if (!all.some(isDrawn)) return new Refusal(`${name}: the alias would keep every character of the value`);
    return all.map((one, i) => (isDrawn(one, i) ? draw(one, random) : one)).join('');
  });
}

function pick(alphabet: string, random: RandomBelow): string {
  return alphabet.charAt(random(alphabet.length));
}

/**
 * Creates a filter that draws a random alias for text. The filter first rejects text that is longer than the maximum
 * length of an id, because drawing random numbers is expensive. The scope must have a random source.
 */
function aliasFilter<const P extends readonly Parameter<unknown>[]>(
  name: string,
  parameters: P,
  draw: (text: string, args: ValuesOf<P>, random: RandomBelow) => string | Refusal,
) {
  return textFilter(
    name,
    parameters,
    (text, args: ValuesOf<P>, { random, budget }) => {
      if (random === undefined) throw new Error('an alias filter was evaluated without a random source');
      if (codePointCount(text) > limits.aliasCharactersMax) {
        return new Refusal(
          `${name}: the value has more than ${limits.aliasCharactersMax} characters, the longest that an id may be`,
        );
      }
      spendWork(budget, text.length * limits.workPerDrawnCharacter);
      return draw(text, args, random);
    },
    { random: true },
  );
}

/** The filters that replace a value with a random alias. */
export const aliasFilters: readonly Filter[] = [aliasCard, aliasPreserveFormat, aliasPreserveLength];
