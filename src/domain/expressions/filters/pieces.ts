import type { Json } from '../../json.js';
import { isJsonObject } from '../../json.js';
import { codePointCount } from '../../text.js';
import { spendWork } from '../budget.js';
import { charactersBetween, lastCharacters } from '../characters.js';
import { isJsonArray } from '../json-array.js';
import { limits } from '../limits.js';
import type { Refusal } from '../refusal.js';
import { textOf } from '../text-of.js';
import { valueFilter } from './filter.js';
import { inputText } from './input-text.js';
import { count, index, optional } from './parameters.js';

/** The first item of an array or character of a text; null of an empty one and of an object. */
export const first = valueFilter('first', [], (input) => {
  if (isJsonArray(input)) return input[0] ?? null;
  return onText(input, (text) => Array.from(text.slice(0, 2))[0] ?? null);
});

export const last = valueFilter('last', [], (input) => {
  if (isJsonArray(input)) return input.at(-1) ?? null;
  return onText(input, (text) => lastCharacters(text, 1) || null);
});

/** `slice: start, length`: one item or character without a length; a negative start counts from the end. */
export const slice = valueFilter('slice', [index, optional(count, 1)], (input, [start, length], scope) => {
  if (isJsonArray(input)) return between(input, start, length);
  const text = inputText(input, scope);
  return typeof text === 'string' ? charactersBetween(text, start, length) : text;
});

/** Items of an array, keys of an object, characters of a text; 0 of null. */
export const size = valueFilter('size', [], (input, _, { budget }) => {
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
