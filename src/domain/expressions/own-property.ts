import { isJsonArray, isJsonObject, type Json } from '../json.js';

/**
 * Follows one step of a path through plain JSON. Returns an object's own property or an array item, and returns null
 * for anything else. A negative index counts from the end. Threat: an expression reads `constructor`, `__proto__`,
 * `length`, or a method of a string or an array (docs/contract.md, "Expression syntax").
 */
export function ownProperty(value: Json, key: Json): Json {
  return ownValue(value, key) ?? null;
}

/** Like `ownProperty`, but returns undefined if the step leads nowhere. */
export function ownValue(value: Json, key: Json): Json | undefined {
  if (typeof key !== 'string' && typeof key !== 'number') return undefined;
  if (isJsonArray(value)) return value.at(indexOf(key));
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function indexOf(key: string | number): number {
  if (typeof key === 'number') return Number.isInteger(key) ? key : Number.POSITIVE_INFINITY;
  return /^-?\d{1,10}$/.test(key) ? Number(key) : Number.POSITIVE_INFINITY;
}
