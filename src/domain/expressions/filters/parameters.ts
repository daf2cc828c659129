import type { Json } from '../../json.js';
import { codePointCount } from '../../text.js';

/**
 * One argument of a filter. `read` gives its value, or undefined for a value of the wrong kind. An argument that is
 * left out or null takes the value `absent`; without an `absent` it must be there.
 */
export type Parameter<T> = {
  readonly expected: string;
  readonly absent?: T;
  read(value: Json): T | undefined;
};

export const count: Parameter<number> = {
  expected: 'a whole number, 0 or more',
  read: (value) => natural(value),
};

export const index: Parameter<number> = {
  expected: 'a whole number',
  read: (value) => {
    if (typeof value === 'string' && value.startsWith('-')) return negative(natural(value.slice(1)));
    if (typeof value === 'number' && value < 0) return negative(natural(-value));
    return natural(value);
  },
};

export const character: Parameter<string> = {
  expected: 'one character',
  read: (value) => (typeof value === 'string' && codePointCount(value) === 1 ? value : undefined),
};

export const text: Parameter<string> = {
  expected: 'a text',
  read: (value) => (value === null || typeof value === 'object' ? undefined : String(value)),
};

/** For what is joined to another text: null is nothing, as in Liquid. */
export const textOrNothing: Parameter<string> = {
  expected: 'a text',
  read: (value) => (value === null ? '' : text.read(value)),
};

export const searchText: Parameter<string> = {
  expected: 'a text that is not empty',
  read: (value) => text.read(value) || undefined,
};

/** `'true'` and `'false'`, as text or as literals. */
export const flag: Parameter<boolean> = {
  expected: "'true' or 'false'",
  read: (value) => {
    if (value === true || value === 'true') return true;
    return value === false || value === 'false' ? false : undefined;
  },
};

export function optional<T>(parameter: Parameter<T>, absent: T): Parameter<T> {
  return { ...parameter, absent };
}

/** Clients quote numbers now and then (`reveal_last: '4'`); digits in quotes count as the number. */
function natural(value: Json): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

function negative(number: number | undefined): number | undefined {
  return number === undefined ? undefined : -number;
}
