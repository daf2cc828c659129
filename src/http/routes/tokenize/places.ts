import { isJsonObject, type Json } from '../../../domain/json.js';
import { itemPath, memberPath } from '../../../domain/json-path.js';

/** A place of a body whose value becomes a token: a create request, or a value by itself. */
export type Place = { readonly value: Exclude<Json, null>; readonly isRequest: boolean; readonly path: string };

/**
 * The places of a body in the order of its text (contract, section 9): every object with `type` and `data`, which is a
 * create request whatever else it holds, and every other value that is neither null nor within one.
 */
export function* placesOf(value: Json, path = ''): Iterable<Place> {
  if (value === null) return;
  if (isCreateRequest(value)) yield { value, isRequest: true, path };
  else if (isArray(value)) {
    for (const [index, item] of value.entries()) yield* placesOf(item, itemPath(path, index));
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) yield* placesOf(item, memberPath(path, key));
  } else yield { value, isRequest: false, path };
}

/** The body with something else in each place, given in the order of `placesOf`. */
export function withReplaced(value: Json, next: () => Json): Json {
  if (value === null) return null;
  if (isCreateRequest(value) || typeof value !== 'object') return next();
  if (isArray(value)) return value.map((item) => withReplaced(item, next));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withReplaced(item, next)]));
}

function isCreateRequest(value: Json): boolean {
  return isJsonObject(value) && Object.hasOwn(value, 'type') && Object.hasOwn(value, 'data');
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
