import { passesLuhn } from '../../luhn.js';
import { characters } from '../characters.js';
import { Refusal } from '../refusal.js';
import { aliasFilter } from './alias-filter.js';
import { binLength, digitPositions, isDigit } from './card-number.js';
import { flag, optional } from './parameters.js';

/**
 * `alias_card: bin, last4`: the same length and separators with random digits, keeping the BIN and the last four digits
 * when switched on. Refused when no digit would be left to draw. The result never passes the Luhn check: an alias that
 * is a possible card number could be another person's card, and nobody could tell tokens from card numbers.
 */
export const aliasCard = aliasFilter(
  'alias_card',
  [optional(flag, false), optional(flag, false)],
  (text, [keepBin, keepLast4], random) => {
    // Anything else that stayed as it is would show in the id, which is no secret.
    if (!/^[\d .-]*$/.test(text)) return new Refusal('alias_card: the value holds more than digits and separators');
    const all = characters(text);
    const positions = digitPositions(all);
    const hidden = positions.slice(
      keepBin ? binLength(positions.length) : 0,
      keepLast4 ? Math.max(0, positions.length - 4) : positions.length,
    );
    const [first] = hidden;
    if (first === undefined) return new Refusal('alias_card: the value has no more digits than the alias would keep');
    for (const position of hidden) all[position] = String(random(10));
    // Any change of a single digit breaks a Luhn sum that fits.
    if (passesLuhn(all.filter(isDigit).join(''))) all[first] = String((Number(all[first]) + 1) % 10);
    return all.join('');
  },
);
