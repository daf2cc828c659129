import { jsonSize } from '../json-size.js';
import { limits } from '../limits.js';
import type { Refusal } from '../refusal.js';
import { tooBig } from '../text-of.js';
import { textFilter } from './filter.js';
import { occurrences } from './occurrences.js';
import { optional, searchText, text as textParameter } from './parameters.js';

/** `remove: search`: every occurrence. */
export const remove = textFilter('remove', [searchText], (text, [search]) => replaceEvery(text, search, ''));

/** `replace: search, replacement`: every occurrence; without a replacement the same as `remove`. */
export const replace = textFilter('replace', [searchText, optional(textParameter, '')], (text, [search, replacement]) =>
  replaceEvery(text, search, replacement),
);

/** `split: separator`: an array of texts; empty ones at the end are left out, as in Liquid. */
export const split = textFilter('split', [searchText], (text, [separator]) => {
  const found = occurrences(text, separator);
  const size = jsonSize(text) - found.length * (jsonSize(separator) - 2) + 3 * (found.length + 1);
  if (size > limits.resultBytesMax) return tooBig();
  const all = between(text, found, separator.length);
  const lastFilled = all.findLastIndex((part) => part !== '');
  return all.slice(0, lastFilled + 1);
});

function replaceEvery(text: string, search: string, replacement: string): string | Refusal {
  const found = occurrences(text, search);
  if (found.length === 0) return text;
  const growth = Buffer.byteLength(replacement) - Buffer.byteLength(search);
  const size = Buffer.byteLength(text) + found.length * growth;
  return size > limits.resultBytesMax ? tooBig() : between(text, found, search.length).join(replacement);
}

/** The pieces of a text around what was found in it. */
function between(text: string, found: readonly number[], length: number): string[] {
  const starts = [0].concat(found.map((at) => at + length));
  return starts.map((start, i) => text.slice(start, found[i]));
}
