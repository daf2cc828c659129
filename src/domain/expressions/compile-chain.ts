import { isNear, nearest } from '../nearest.js';
import { isSpent, mayRead, spendWork, take } from './budget.js';
import { filterNamed, filterNames } from './catalogue.js';
import { type AppliedFilter, type Argument, LongFilter } from './filter.js';
import { resultSize } from './json-size.js';
import { limits } from './limits.js';
import { ownProperty } from './own-property.js';
import { type Chain, type Operand, type Read, readsOf } from './parse.js';
import { Refusal } from './refusal.js';
import type { Evaluate, EvaluateObject } from './scope.js';
import { tooBig } from './text-of.js';

/**
 * The variables that an expression may use, and whether the expression may draw random aliases. Only the expression for
 * a token's id may draw aliases.
 */
export type Names = { readonly variables: readonly ('data' | 'metadata')[]; readonly aliases: boolean };

/**
 * A compiled `{{ }}` object. `random` is true if the object draws random characters. `reads` lists everything that the
 * object may read.
 */
export type CompiledObject = {
  readonly evaluate: EvaluateObject;
  readonly random: boolean;
  readonly reads: readonly Read[];
};

/** Checks every name and literal argument in a chain, and compiles the chain to a closure. */
export function compileChain(chain: Chain, names: Names): CompiledObject | Refusal {
  if (chain.filters.length > limits.filtersMaxPerObject) {
    return new Refusal(`has more than ${limits.filtersMaxPerObject} filters`);
  }
  const initial = compileOperand(chain.initial, names);
  if (initial instanceof Refusal) return initial;
  const filters: AppliedFilter[] = [];
  let random = false;
  for (const { name, args } of chain.filters) {
    const filter = filterNamed(name);
    if (filter === undefined) return new Refusal(`names an unknown filter${suggestion(name)}`);
    if (filter.random && !names.aliases) return new Refusal('uses an alias filter, which only the id may use');
    const bound = bindArguments(args, names);
    if (bound instanceof Refusal) return bound;
    const applied = filter.bind(bound);
    if (applied instanceof Refusal) return new Refusal(`is rejected by a filter: ${applied.message}`);
    filters.push(applied);
    random ||= filter.random;
  }
  return { evaluate: piped(initial, filters), random, reads: readsOf(chain) };
}

/**
 * Returns a closure that runs the filters in sequence. The closure charges the budget for the largest result of any
 * filter, or for the initial value if there are no filters. The total output of all objects is therefore limited, but a
 * long text that passes through several filters is charged only once.
 */
function piped(initial: Evaluate, filters: readonly AppliedFilter[]): EvaluateObject {
  return function* (scope) {
    const { budget } = scope;
    if (isSpent(budget)) return tooMuchWork();
    let value = initial(scope);
    let charged = 0;
    if (filters.length === 0 && !(value instanceof Refusal)) {
      charged = yield* resultSize(value, limits.resultBytesMax);
      spendWork(budget, charged);
    }
    if (!take(budget, charged)) return tooBigTogether();
    for (const filter of filters) {
      if (value instanceof Refusal) return value;
      if (isSpent(budget)) return tooMuchWork();
      const read: number = typeof value === 'string' ? value.length : 0;
      if (!mayRead(budget, read)) return tooMuchWork();
      spendWork(budget, read);
      const filtered = filter(value, scope);
      value = filtered instanceof LongFilter ? yield* filtered.steps : filtered;
      if (value instanceof Refusal) return value;
      const size = yield* resultSize(value, limits.resultBytesMax);
      spendWork(budget, Math.max(0, size - read));
      if (size > limits.resultBytesMax) return tooBig();
      if (size > charged && !take(budget, size - charged)) return tooBigTogether();
      charged = Math.max(charged, size);
      yield;
    }
    return value;
  };
}

/**
 * Returns text that names the filter that was probably meant, or all filters if no name is similar. A long name is
 * compared with none, because computing distances to it would take too long.
 */
function suggestion(name: string): string {
  const near = name.length > 40 ? undefined : nearest(name, filterNames);
  if (near !== undefined && isNear(name, near)) return `; did you mean ${near}?`;
  return `; the filters are ${filterNames.join(', ')}`;
}

function tooBigTogether(): Refusal {
  return new Refusal('the results of all expressions together are too big');
}

function tooMuchWork(): Refusal {
  return new Refusal('the filters of all expressions together take too much work');
}

function bindArguments(args: readonly Operand[], names: Names): Argument[] | Refusal {
  const bound: Argument[] = [];
  for (const operand of args) {
    const evaluate = compileOperand(operand, names);
    if (evaluate instanceof Refusal) return evaluate;
    bound.push(operand.kind === 'literal' ? { literal: operand.value } : { evaluate });
  }
  return bound;
}

function compileOperand(operand: Operand, names: Names): Evaluate | Refusal {
  if (operand.kind === 'literal') return () => operand.value;
  const { name, path } = operand;
  const variable = names.variables.find((known) => known === name);
  if (variable === undefined) return new Refusal('names an unknown variable');
  const steps: Evaluate[] = [];
  for (const step of path) {
    const compiled = compileOperand(step, names);
    if (compiled instanceof Refusal) return compiled;
    steps.push(compiled);
  }
  return (scope) => {
    let value = scope[variable];
    for (const step of steps) {
      const key = step(scope);
      if (key instanceof Refusal) return key;
      value = ownProperty(value, key);
    }
    return value;
  };
}
