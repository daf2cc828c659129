import { codePointCount } from '../../text.js';
import { limits } from '../limits.js';
import { tooBig } from '../text-of.js';
import { textFilter } from './filter.js';
import { character, count, type Parameter } from './parameters.js';

const length: Parameter<number> = {
  expected: 'a whole number from 0 to 10,000',
  read: (value) => {
    const number = count.read(value);
    return number !== undefined && number <= limits.padCharactersMax ? number : undefined;
  },
};

/** `pad_left: n, c`: fills up to n characters on the left; a longer value is unchanged. */
export const padLeft = padFilter('pad_left', (text, padding) => padding + text);

export const padRight = padFilter('pad_right', (text, padding) => text + padding);

function padFilter(name: string, join: (text: string, padding: string) => string) {
  return textFilter(name, [length, character], (text, [total, padCharacter]) => {
    const missing = Math.max(0, total - codePointCount(text));
    const size = Buffer.byteLength(text) + missing * Buffer.byteLength(padCharacter);
    return size > limits.resultBytesMax ? tooBig() : join(text, padCharacter.repeat(missing));
  });
}
