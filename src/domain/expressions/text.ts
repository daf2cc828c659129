import { inRanges, type Steps } from '../steps.js';
import { codePointCount } from '../text.js';
import {
  character,
  count,
  type Filter,
  inputText,
  optional,
  type Parameter,
  searchText,
  steppedTextFilter,
  textFilter,
  textOrNothing,
  text as textParameter,
  valueFilter,
} from './filter.js';
import { jsonSize } from './json-size.js';
import { limits } from './limits.js';
import type { Refusal } from './refusal.js';
import { tooBig } from './text-of.js';

const length: Parameter<number> = {
  expected: 'a whole number from 0 to 10,000',
  read: (value) => {
    const number = count.read(value);
    return number !== undefined && number <= limits.padCharactersMax ? number : undefined;
  },
};

/** `pad_left: n, c` pads text on the left to n characters. Longer text stays unchanged. */
const padLeft = padFilter('pad_left', (text, padding) => padding + text);

const padRight = padFilter('pad_right', (text, padding) => text + padding);

function padFilter(name: string, join: (text: string, padding: string) => string) {
  return textFilter(name, [length, character], (text, [total, padCharacter]) => {
    const missing = Math.max(0, total - codePointCount(text));
    const size = Buffer.byteLength(text) + missing * Buffer.byteLength(padCharacter);
    return size > limits.resultBytesMax ? tooBig() : join(text, padCharacter.repeat(missing));
  });
}

/** `append: text` appends text. As in Liquid, an input or an argument that is null counts as an empty string. */
const append = joinFilter('append', (text, added) => text + added);

const prepend = joinFilter('prepend', (text, added) => added + text);

function joinFilter(name: string, join: (text: string, added: string) => string) {
  return valueFilter(name, [textOrNothing], (input, [added], scope) => {
    const text = inputText(input, scope) ?? '';
    if (typeof text !== 'string') return text;
    const size = Buffer.byteLength(text) + Buffer.byteLength(added);
    return size > limits.resultBytesMax ? tooBig() : join(text, added);
  });
}

const upcase = textFilter('upcase', [], (text) => changeCase(text, (part) => part.toUpperCase()));

const downcase = textFilter('downcase', [], (text) => changeCase(text, (part) => part.toLowerCase()));

/**
 * Changes the letter case. The result has at most three times as many bytes as the text, so a short text cannot exceed
 * the limit and is not measured.
 */
function changeCase(text: string, change: (part: string) => string): string | Refusal {
  const mayNotFit = 3 * Buffer.byteLength(text) > limits.resultBytesMax;
  return mayNotFit && changedSize(text, change) > limits.resultBytesMax ? tooBig() : change(text);
}

function changedSize(text: string, change: (part: string) => string): number {
  let size = 0;
  for (let start = 0; start < text.length; ) {
    const end = start + 8_192 + ((text.codePointAt(start + 8_191) ?? 0) > 0xffff ? 1 : 0);
    size += Buffer.byteLength(change(text.slice(start, end)));
    start = end;
  }
  return size;
}

/** `strip` removes white space at both ends. */
const strip = textFilter('strip', [], (text) => text.trim());

/** `remove: search` removes each occurrence of `search`. */
const remove = steppedTextFilter('remove', [searchText], (text, [search]) => replaceEvery(text, search, ''));

/**
 * `replace: search, replacement` replaces each occurrence of `search`. If the replacement is omitted, the filter
 * removes each occurrence.
 */
const replace = steppedTextFilter('replace', [searchText, optional(textParameter, '')], (text, [search, replacement]) =>
  replaceEvery(text, search, replacement),
);

/**
 * The number of pieces that are cut from a text between two yields. Cutting this many pieces takes less than a
 * millisecond.
 */
const piecesAtOnce = 4_096;

/** `split: separator` returns an array of strings. As in Liquid, empty strings at the end are dropped. */
const split = steppedTextFilter('split', [searchText], function* (text, [separator]) {
  const found = yield* occurrences(text, separator);
  const size = jsonSize(text) - found.length * (jsonSize(separator) - 2) + 3 * (found.length + 1);
  if (size > limits.resultBytesMax) return tooBig();
  const all: string[] = [];
  let start = 0;
  const cut = (from: number, to: number): void => {
    for (const at of found.slice(from, to)) {
      all.push(text.slice(start, at));
      start = at + separator.length;
    }
  };
  yield* inRanges(found.length, cut, piecesAtOnce);
  all.push(text.slice(start));
  const lastFilled = all.findLastIndex((part) => part !== '');
  return all.slice(0, lastFilled + 1);
});

function* replaceEvery(text: string, search: string, replacement: string): Steps<string | Refusal> {
  const found = yield* occurrences(text, search);
  if (found.length === 0) return text;
  const growth = Buffer.byteLength(replacement) - Buffer.byteLength(search);
  const size = Buffer.byteLength(text) + found.length * growth;
  if (size > limits.resultBytesMax) return tooBig();
  const parts: string[] = [];
  let start = 0;
  const joinPieces = (from: number, to: number): void => {
    const pieces: string[] = [];
    for (const at of found.slice(from, to)) {
      pieces.push(text.slice(start, at));
      start = at + search.length;
    }
    parts.push(pieces.join(replacement), replacement);
  };
  yield* inRanges(found.length, joinPieces, piecesAtOnce);
  parts.push(text.slice(start));
  return parts.join('');
}

/** The part of a string's interface that the search uses. A test passes its own implementation to count accesses. */
type CodeUnits = Pick<string, 'length' | 'charCodeAt'>;

/**
 * Returns the positions of all non-overlapping occurrences of `search` in `text`. `search` must not be empty. Takes
 * O(text + search) time with the Knuth-Morris-Pratt algorithm.
 * Threat: a caller searches for `baaa…` in `aaa…`. With `indexOf`, this search would take O(text × search) time and
 * block the process for seconds.
 */
export function* occurrences(text: CodeUnits, search: CodeUnits): Steps<number[]> {
  const found: number[] = [];
  if (search.length > text.length) return found;
  const borders = yield* bordersOf(search);
  let matched = 0;
  yield* inRanges(text.length, (from, to) => {
    for (let i = from; i < to; i++) {
      matched = extend(search, borders, matched, text.charCodeAt(i));
      if (matched === search.length) {
        found.push(i + 1 - matched);
        matched = 0;
      }
    }
  });
  return found;
}

/**
 * For each prefix of the search text, returns the length of the longest proper suffix that is also a prefix of the
 * search text.
 */
function* bordersOf(search: CodeUnits): Steps<Int32Array> {
  const borders = new Int32Array(search.length);
  yield* inRanges(search.length, (from, to) => {
    for (let i = Math.max(1, from); i < to; i++) {
      borders[i] = extend(search, borders, borders[i - 1] ?? 0, search.charCodeAt(i));
    }
  });
  return borders;
}

function extend(search: CodeUnits, borders: Int32Array, matchedBefore: number, unit: number): number {
  let matched = matchedBefore;
  while (matched > 0 && search.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
  return search.charCodeAt(matched) === unit ? matched + 1 : matched;
}

/** The filters that change text. */
export const textFilters: readonly Filter[] = [
  padLeft,
  padRight,
  remove,
  replace,
  split,
  upcase,
  downcase,
  append,
  prepend,
  strip,
];
