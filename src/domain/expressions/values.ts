import { isFaithfulNumber } from '../faithful-number.js';
import { isJsonArray, isJsonObject, type Json } from '../json.js';
import { codePointCount } from '../text.js';
import { spendWork } from './budget.js';
import { charactersBetween, lastCharacters } from './characters.js';
import { count, type Filter, index, inputText, optional, text, textFilter, valueFilter } from './filter.js';
import { limits } from './limits.js';
import { ownProperty } from './own-property.js';
import { Refusal } from './refusal.js';
import { textOf } from './text-of.js';

/** `to_string` converts numbers and booleans to text. Null stays null. The filter rejects objects and arrays. */
const castToString = valueFilter('to_string', [], (input) => {
  if (input === null || typeof input === 'string') return input;
  return typeof input === 'object' ? new Refusal('to_string: an object or array is not text') : String(input);
});

/**
 * `to_number` converts decimal text, with or without leading zeros, to a number. It rejects any other text. It also
 * rejects numbers that would lose digits, because a changed account number is worse than an error.
 */
const castToNumber = valueFilter('to_number', [], (input) => {
  if (input === null || typeof input === 'number') return input;
  const text = typeof input === 'string' ? input : '';
  const isExact = /^[+-]?\d+(\.\d+)?([eE][+-]?\d{1,4})?$/.test(text) && isFaithfulNumber(text);
  return isExact ? Number(text) : new Refusal('to_number: the value is not a number that can be held exactly');
});

/** `to_boolean` converts `true` and `false`, in any letter case, to a boolean. */
const castToBoolean = textFilter('to_boolean', [], (text) => {
  const lower = text.length <= 5 ? text.toLowerCase() : '';
  if (lower === 'true' || lower === 'false') return lower === 'true';
  return new Refusal('to_boolean: the value is neither true nor false');
});

/**
 * `stringify` returns JSON text without spaces, with keys in the order of the data. A string or null stays unchanged.
 */
const stringify = textFilter('stringify', [], (text) => text);

/**
 * `json: path` returns the value at a JSONPath of members and indexes (RFC 9535: `$.a['b c'][0][-1]`), or null if the
 * path finds no value. Selectors that can match several values (`*`, `..`, slices, unions, filters) are rejected. Even
 * a literal path is checked only at evaluation, because a mask with an invalid path is stored and evaluates to null.
 */
const json = valueFilter('json', [text], (input, [path], { budget }) => {
  // A literal path also counts as work, because it is parsed on each evaluation.
  spendWork(budget, path.length);
  const steps = pathSteps(path);
  return steps instanceof Refusal ? steps : steps.reduce<Json>(ownProperty, input);
});

const step =
  /\.([\p{L}\p{N}_$-]+)|\[\s*(-?\d{1,10})\s*\]|\[\s*'((?:[^'\\]|\\.)*)'\s*\]|\[\s*"((?:[^"\\]|\\.)*)"\s*\]/uy;

function pathSteps(path: string): readonly (string | number)[] | Refusal {
  const source = path.trim();
  if (!source.startsWith('$')) return new Refusal('json: a path starts with $');
  const steps: (string | number)[] = [];
  const matcher = new RegExp(step);
  matcher.lastIndex = 1;
  while (matcher.lastIndex < source.length) {
    const match = matcher.exec(source);
    if (match === null)
      return new Refusal('json: the path may contain only members and indexes, so that it finds one value');
    const [, member, index, single, double] = match;
    if (index !== undefined) steps.push(Number(index));
    else steps.push(member ?? (single ?? double ?? '').replace(/\\(.)/gsu, '$1'));
  }
  return steps;
}

/**
 * `first` returns the first item of an array or the first character of a string. It returns null for an empty value or
 * an object.
 */
const first = valueFilter('first', [], (input) => {
  if (isJsonArray(input)) return input[0] ?? null;
  return onText(input, (text) => Array.from(text.slice(0, 2))[0] ?? null);
});

const last = valueFilter('last', [], (input) => {
  if (isJsonArray(input)) return input.at(-1) ?? null;
  return onText(input, (text) => lastCharacters(text, 1) || null);
});

/**
 * `slice: start, length` returns `length` items of an array, or `length` characters of a string, beginning at `start`.
 * The default length is 1. A negative start counts from the end.
 */
const slice = valueFilter('slice', [index, optional(count, 1)], (input, [start, length], scope) => {
  if (isJsonArray(input)) return between(input, start, length);
  const text = inputText(input, scope);
  return typeof text === 'string' ? charactersBetween(text, start, length) : text;
});

/**
 * `size` returns the number of items in an array, keys in an object or characters in a string. It returns 0 for null.
 */
const size = valueFilter('size', [], (input, _, { budget }) => {
  if (input === null) return 0;
  if (isJsonArray(input)) return input.length;
  if (isJsonObject(input)) {
    const keys = Object.keys(input).length;
    spendWork(budget, keys * limits.workPerKey);
    return keys;
  }
  return onText(input, codePointCount);
});

function onText(input: Json, apply: (text: string) => Json): Json | Refusal {
  if (isJsonObject(input)) return null;
  const text = textOf(input);
  return typeof text === 'string' ? apply(text) : text;
}

function between<T>(items: readonly T[], start: number, length: number): readonly T[] {
  const from = start < 0 ? items.length + start : start;
  return from < 0 ? [] : items.slice(from, from + length);
}

/** The filters that convert a value or extract part of it. */
export const valueFilters: readonly Filter[] = [
  stringify,
  json,
  castToString,
  castToNumber,
  castToBoolean,
  first,
  last,
  slice,
  size,
];
