import type { Json } from '../json.js';
import { finish, type Steps } from '../steps.js';
import { codePointCount } from '../text.js';
import { spendWork } from './budget.js';
import { jsonSize } from './json-size.js';
import { limits } from './limits.js';
import { Refusal } from './refusal.js';
import type { Evaluate, Scope } from './scope.js';
import { textOf, tooBig } from './text-of.js';

/** A parsed argument: a literal, or a variable whose value is known only during evaluation. */
export type Argument = { readonly literal: Json } | { readonly evaluate: Evaluate };

export type AppliedFilter = (input: Json, scope: Scope) => Filtered;

/** The result of a filter or, if the text is long, a computation that produces the result in steps. */
export type Filtered = Json | Refusal | LongFilter;

/**
 * A filter's computation on a long text. The computation yields, so that other requests can run before it is complete.
 */
export class LongFilter {
  readonly steps: Steps<Json | Refusal>;

  constructor(steps: Steps<Json | Refusal>) {
    this.steps = steps;
  }
}

/** The maximum length of a text that a filter processes without yielding. */
const shortTextMax = 32 * 1024;

/**
 * A filter (docs/contract.md, "Filters"). When an expression is parsed, `bind` checks the number of arguments and every
 * literal argument.
 */
export type Filter = {
  readonly name: string;
  /** Whether the filter draws random characters. Such a filter is allowed only in the expression for an id. */
  readonly random: boolean;
  bind(args: readonly Argument[]): AppliedFilter | Refusal;
};

export type ValuesOf<P extends readonly Parameter<unknown>[]> = {
  [K in keyof P]: P[K] extends Parameter<infer T> ? T : never;
};

/**
 * Creates a filter for JSON values. If the result can be larger than the input, `apply` must compute its size before
 * building it.
 */
export function valueFilter<const P extends readonly Parameter<unknown>[]>(
  name: string,
  parameters: P,
  apply: (input: Json, args: ValuesOf<P>, scope: Scope) => Filtered,
  options: { readonly random?: boolean } = {},
): Filter {
  const run = (input: Json, args: unknown, scope: Scope) => apply(input, args as ValuesOf<P>, scope);
  return {
    name,
    random: options.random ?? false,
    bind(args) {
      if (args.length > parameters.length) return new Refusal(`${name} takes ${atMost(parameters.length)}`);
      const readers: ArgumentReader[] = [];
      for (const [index, parameter] of parameters.entries()) {
        const reader = argumentReader(`${name}: argument ${index + 1}`, parameter, args[index]);
        if (reader instanceof Refusal) return reader;
        readers.push(reader);
      }
      if (readers.every((reader) => 'value' in reader)) {
        const values = readers.map((reader) => reader.value);
        return (input, scope) => run(input, values, scope);
      }
      return (input, scope) => {
        const values: unknown[] = [];
        for (const reader of readers) {
          const value = 'value' in reader ? reader.value : reader.read(scope);
          if (value instanceof Refusal) return value;
          values.push(value);
        }
        return run(input, values, scope);
      };
    },
  };
}

/**
 * Creates a filter for text. The filter first converts its input to text: numbers and objects become JSON, and null
 * stays null.
 */
export function textFilter<const P extends readonly Parameter<unknown>[]>(
  name: string,
  parameters: P,
  apply: (text: string, args: ValuesOf<P>, scope: Scope) => Filtered,
  options: { readonly random?: boolean } = {},
): Filter {
  return valueFilter(
    name,
    parameters,
    (input, args: ValuesOf<P>, scope) => {
      const text = inputText(input, scope);
      return typeof text === 'string' ? apply(text, args, scope) : text;
    },
    options,
  );
}

/**
 * Creates a text filter that works in steps. While it processes a long text, the filter yields so that other requests
 * can run. It processes a short text without yielding.
 */
export function steppedTextFilter<const P extends readonly Parameter<unknown>[]>(
  name: string,
  parameters: P,
  apply: (text: string, args: ValuesOf<P>, scope: Scope) => Steps<Json | Refusal>,
): Filter {
  return textFilter(name, parameters, (text, args: ValuesOf<P>, scope) => {
    const steps = apply(text, args, scope);
    return text.length > shortTextMax ? new LongFilter(steps) : finish(steps);
  });
}

function atMost(count: number): string {
  if (count === 0) return 'no arguments';
  return count === 1 ? 'at most 1 argument' : `at most ${count} arguments`;
}

type ArgumentReader = { readonly value: unknown } | { read(scope: Scope): unknown };

function argumentReader(
  label: string,
  parameter: Parameter<unknown>,
  argument: Argument | undefined,
): ArgumentReader | Refusal {
  const check = (given: Json) => {
    const value = given === null && parameter.absent !== undefined ? parameter.absent : parameter.read(given);
    return value === undefined ? new Refusal(`${label} must be ${parameter.expected}`) : value;
  };
  if (argument !== undefined && 'evaluate' in argument) {
    return {
      read(scope) {
        const given = argument.evaluate(scope);
        if (given instanceof Refusal) return given;
        if (typeof given === 'string') spendWork(scope.budget, given.length);
        return check(given);
      },
    };
  }
  if (argument === undefined && parameter.absent === undefined) {
    return new Refusal(`${label} is missing; it must be ${parameter.expected}`);
  }
  const value = check(argument?.literal ?? null);
  return value instanceof Refusal ? value : { value };
}

/**
 * A filter parameter. `read` returns the argument's value, or undefined if the argument is of the wrong kind. If the
 * argument is missing or null, its value is `absent`. If a parameter has no `absent`, the argument is required.
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
  expected: 'text',
  read: (value) => (value === null || typeof value === 'object' ? undefined : String(value)),
};

/** Text to append or prepend. As in Liquid, null counts as an empty string. */
export const textOrNothing: Parameter<string> = {
  expected: 'text',
  read: (value) => (value === null ? '' : text.read(value)),
};

export const searchText: Parameter<string> = {
  expected: 'a non-empty string',
  read: (value) => text.read(value) || undefined,
};

/** A flag: true or false, as a string or as a boolean. */
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

/** Reads a natural number. Also accepts a string of digits, because some clients quote numbers (`reveal_last: '4'`). */
function natural(value: Json): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

function negative(number: number | undefined): number | undefined {
  return number === undefined ? undefined : -number;
}

/**
 * Returns a filter's input as text. For an object or array, charges twice the size of its JSON as work. The factor is
 * two because the JSON is measured before it is built, and because reading members is slower than reading characters.
 * If the JSON is too large, the input is rejected, but the work is still charged.
 */
export function inputText(input: Json, { budget }: Scope): string | null | Refusal {
  if (typeof input !== 'object' || input === null) return textOf(input);
  const size = jsonSize(input, limits.resultBytesMax);
  spendWork(budget, 2 * size);
  return size > limits.resultBytesMax ? tooBig() : JSON.stringify(input);
}
