import { type Checked, type FieldErrors, valid } from '../field-errors.js';
import { isJsonArray, isJsonObject, type Json } from '../json.js';
import { itemPath, memberPath } from '../json-path.js';
import type { Steps } from '../steps.js';
import { type Expression, evaluateExpression } from './expression.js';
import { limits } from './limits.js';
import { Refusal } from './refusal.js';
import type { EvaluateObject, Scope } from './scope.js';

/** A compiled mask. Returns null if nothing may be shown. */
export type Mask = (scope: Scope) => Steps<Json>;

type CompileText = (source: string) => Expression | Refusal;

/** The path of a mask in a request. */
const maskPath = 'mask';

/**
 * Checks every expression in a mask. Errors are reported at the expression's path in the mask (`mask.number`,
 * `mask[0]`).
 */
export function checkMask(mask: Json, compile: CompileText): Checked<Json> {
  const errors: [string, string][] = [];
  let nodeCount = 0;
  let objectCount = 0;
  const isOver = () => nodeCount > limits.maskNodesMax || objectCount > limits.objectsMaxPerMask;
  const walk = (value: Json, at: string): void => {
    nodeCount++;
    if (typeof value === 'string') {
      const expression = compile(value);
      if (expression instanceof Refusal) errors.push([at, expression.message]);
      else objectCount += expression.objectCount;
    }
    for (const [inner, innerAt] of children(value, at)) {
      if (errors.length >= limits.maskErrorsMax || isOver()) return;
      walk(inner, innerAt);
    }
  };
  walk(mask, maskPath);
  if (nodeCount > limits.maskNodesMax) errors.push([maskPath, `has more than ${limits.maskNodesMax} values`]);
  if (objectCount > limits.objectsMaxPerMask)
    errors.push([maskPath, `has more than ${limits.objectsMaxPerMask} objects`]);
  return errors.length === 0 ? valid(mask) : { ok: false, errors: byPath(errors) };
}

/**
 * Compiles a mask to a closure. A string that cannot be parsed evaluates to null. A mask that passed `checkMask`
 * contains no such string.
 */
export function compileMask(mask: Json, compile: CompileText): Mask {
  if (typeof mask === 'string') {
    const expression = compile(mask);
    return expression instanceof Refusal ? constant(null) : shown(expression);
  }
  if (isJsonArray(mask)) {
    const items = mask.map((item) => compileMask(item, compile));
    return function* (scope) {
      const values: Json[] = [];
      for (const item of items) values.push(yield* item(scope));
      return values;
    };
  }
  if (isJsonObject(mask)) {
    const members = Object.entries(mask).map(([key, value]) => [key, compileMask(value, compile)] as const);
    return function* (scope) {
      const values: [string, Json][] = [];
      for (const [key, member] of members) {
        const value = yield* member(scope);
        if (value !== null) values.push([key, value]);
      }
      return Object.fromEntries(values);
    };
  }
  return constant(mask);
}

/**
 * Returns the mask for a string that contains objects. If an object cannot be evaluated during a read, only that object
 * becomes null, and the surrounding text stays.
 */
function shown(expression: Expression): Mask {
  const parts = expression.parts.map((part) => (typeof part === 'string' ? part : nullWhenRefused(part)));
  return function* (scope) {
    const value = yield* evaluateExpression({ parts }, scope);
    return value instanceof Refusal ? null : value;
  };
}

function nullWhenRefused(object: EvaluateObject): EvaluateObject {
  return function* (scope) {
    const value = yield* object(scope);
    return value instanceof Refusal ? null : value;
  };
}

function constant(value: Json): Mask {
  // biome-ignore lint/correctness/useYield: it must have the same type as other masks, but has nothing to do.
  return function* () {
    return value;
  };
}

function* children(value: Json, at: string): Iterable<[Json, string]> {
  if (isJsonArray(value)) {
    for (const [index, item] of value.entries()) yield [item, itemPath(at, index)];
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) yield [value[key] ?? null, memberPath(at, key)];
  }
}

function byPath(errors: readonly [string, string][]): FieldErrors {
  return Object.fromEntries(errors.map(([path, message]) => [path, [message]]));
}
