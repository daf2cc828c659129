import type { Json } from '../../json.js';
import { spendWork } from '../budget.js';
import { Refusal } from '../refusal.js';
import type { Evaluate, Scope } from '../scope.js';
import { inputText } from './input-text.js';
import type { Parameter } from './parameters.js';

/** An argument as it was parsed: a literal, known at parse, or a variable, known at evaluation. */
export type Argument = { readonly literal: Json } | { readonly evaluate: Evaluate };

export type AppliedFilter = (input: Json, scope: Scope) => Json | Refusal;

/** A filter of section 5: `bind` checks the number of arguments and every literal one, once, at parse. */
export type Filter = {
  readonly name: string;
  /** Draws random characters, so it is allowed in the id only. */
  readonly random: boolean;
  bind(args: readonly Argument[]): AppliedFilter | Refusal;
};

export type ValuesOf<P extends readonly Parameter<unknown>[]> = {
  [K in keyof P]: P[K] extends Parameter<infer T> ? T : never;
};

/** A filter over any JSON value. What it makes may grow only after its size was computed; see `tooBig`. */
export function valueFilter<const P extends readonly Parameter<unknown>[]>(
  name: string,
  parameters: P,
  apply: (input: Json, args: ValuesOf<P>, scope: Scope) => Json | Refusal,
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

/** A filter over text: the input is turned to text first (numbers and objects to their JSON), null stays null. */
export function textFilter<const P extends readonly Parameter<unknown>[]>(
  name: string,
  parameters: P,
  apply: (text: string, args: ValuesOf<P>, scope: Scope) => Json | Refusal,
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
