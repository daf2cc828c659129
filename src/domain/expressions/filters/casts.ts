import { Refusal } from '../refusal.js';
import { textFilter, valueFilter } from './filter.js';

/** Numbers and booleans to their text; null stays null; an object or array is refused. */
export const castToString = valueFilter('to_string', [], (input) => {
  if (input === null || typeof input === 'string') return input;
  return typeof input === 'object' ? new Refusal('to_string: an object or array is no text') : String(input);
});

/**
 * Decimal text to its number (leading zeros allowed). Refused: anything else, and whole numbers that a JSON number
 * would not hold exactly, because a changed account number is worse than an error.
 */
export const castToNumber = valueFilter('to_number', [], (input) => {
  if (input === null || typeof input === 'number') return input;
  const text = typeof input === 'string' ? input : '';
  const number = /^[+-]?\d+(\.\d+)?([eE][+-]?\d{1,4})?$/.test(text) ? Number(text) : Number.NaN;
  const isExact = Number.isFinite(number) && (!/^[+-]?\d+$/.test(text) || Number.isSafeInteger(number));
  return isExact ? number : new Refusal('to_number: the value is not a number that can be held exactly');
});

/** `true` and `false`, in any case, to the boolean. */
export const castToBoolean = textFilter('to_boolean', [], (text) => {
  const lower = text.length <= 5 ? text.toLowerCase() : '';
  if (lower === 'true' || lower === 'false') return lower === 'true';
  return new Refusal('to_boolean: the value is neither true nor false');
});
