import { limits } from '../limits.js';
import { textOf, tooBig } from '../text-of.js';
import { valueFilter } from './filter.js';
import { optional, text as textParameter } from './parameters.js';

/** `append: text`. As in Liquid null is an empty text here, on both sides; the argument itself is required. */
export const append = joinFilter('append', (text, added) => text + added);

export const prepend = joinFilter('prepend', (text, added) => added + text);

function joinFilter(name: string, join: (text: string, added: string) => string) {
  return valueFilter(name, [optional(textParameter, '')], (input, [added]) => {
    const text = textOf(input) ?? '';
    if (typeof text !== 'string') return text;
    const size = Buffer.byteLength(text) + Buffer.byteLength(added);
    return size > limits.resultBytesMax ? tooBig() : join(text, added);
  });
}
