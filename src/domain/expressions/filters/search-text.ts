import { jsonSize } from '../json-size.js';
import { limits } from '../limits.js';
import type { Refusal } from '../refusal.js';
import { tooBig } from '../text-of.js';
import { textFilter } from './filter.js';
import { optional, searchText, text as textParameter } from './parameters.js';

/** `remove: search`: every occurrence. */
export const remove = textFilter('remove', [searchText], (text, [search]) => replaceEvery(text, search, ''));

/** `replace: search, replacement`: every occurrence; without a replacement the same as `remove`. */
export const replace = textFilter('replace', [searchText, optional(textParameter, '')], (text, [search, replacement]) =>
  replaceEvery(text, search, replacement),
);

/** `split: separator`: an array of texts; empty ones at the end are left out, as in Liquid. */
export const split = textFilter('split', [searchText], (text, [separator]) => {
  const parts = countOf(text, separator) + 1;
  const size = jsonSize(text) - (parts - 1) * (jsonSize(separator) - 2) + 3 * parts;
  if (size > limits.resultBytesMax) return tooBig();
  const all = text.split(separator);
  const lastFilled = all.findLastIndex((part) => part !== '');
  return all.slice(0, lastFilled + 1);
});

function replaceEvery(text: string, search: string, replacement: string): string | Refusal {
  const growth = Buffer.byteLength(replacement) - Buffer.byteLength(search);
  const size = Buffer.byteLength(text) + countOf(text, search) * growth;
  return size > limits.resultBytesMax ? tooBig() : text.split(search).join(replacement);
}

function countOf(text: string, search: string): number {
  let found = 0;
  for (let at = text.indexOf(search); at !== -1; at = text.indexOf(search, at + search.length)) found++;
  return found;
}
