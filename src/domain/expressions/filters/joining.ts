import { limits } from '../limits.js';
import { tooBig } from '../text-of.js';
import { valueFilter } from './filter.js';
import { inputText } from './input-text.js';
import { textOrNothing } from './parameters.js';

/** `append: text`. As in Liquid null is an empty text here, on both sides. */
export const append = joinFilter('append', (text, added) => text + added);

export const prepend = joinFilter('prepend', (text, added) => added + text);

function joinFilter(name: string, join: (text: string, added: string) => string) {
  return valueFilter(name, [textOrNothing], (input, [added], scope) => {
    const text = inputText(input, scope) ?? '';
    if (typeof text !== 'string') return text;
    const size = Buffer.byteLength(text) + Buffer.byteLength(added);
    return size > limits.resultBytesMax ? tooBig() : join(text, added);
  });
}
