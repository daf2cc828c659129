import { codePointCount } from '../../text.js';
import { spendWork } from '../budget.js';
import { limits } from '../limits.js';
import { Refusal } from '../refusal.js';
import type { RandomBelow } from '../scope.js';
import { textFilter, type ValuesOf } from './filter.js';
import type { Parameter } from './parameters.js';

/**
 * A filter that draws a random alias of a text, of at most as many characters as an id has: whatever is longer would
 * be refused as an id after all, and chance is dear. That one is evaluated without a random source is a bug of the caller.
 */
export function aliasFilter<const P extends readonly Parameter<unknown>[]>(
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
          `${name}: the value has more than ${limits.aliasCharactersMax} characters, as no id may have`,
        );
      }
      spendWork(budget, text.length * limits.workPerDrawnCharacter);
      return draw(text, args, random);
    },
    { random: true },
  );
}
