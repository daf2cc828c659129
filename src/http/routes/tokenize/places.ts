import { isJsonObject, type Json } from '../../../domain/json.js';
import { replaceValues } from '../../../domain/replace-values.js';
import type { Steps } from '../../../domain/steps.js';

/** A place of a body whose value becomes a token: a create request, or a value by itself. */
export type Place = { readonly value: Exclude<Json, null>; readonly isRequest: boolean; readonly path: string };

/**
 * The places of a body in the order of its text (contract, section 9), at most `max`: every object with `type` and
 * `data`, which is a create request whatever else it holds, and every other value that is neither null nor within one.
 */
export function* placesOf(body: Json, max: number): Steps<readonly Place[]> {
  const places: Place[] = [];
  yield* replaceValues(body, (value, pathOf) => {
    if (value === null || !isPlace(value)) return undefined;
    if (places.length < max) places.push({ value, isRequest: isCreateRequest(value), path: pathOf() });
    return null;
  });
  return places;
}

/** The body with something else in each place, given in the order of `placesOf`. */
export function withReplaced(body: Json, next: () => Json): Steps<Json> {
  return replaceValues(body, (value) => (isPlace(value) ? next() : undefined));
}

function isPlace(value: Json): boolean {
  return isCreateRequest(value) || (value !== null && typeof value !== 'object');
}

function isCreateRequest(value: Json): boolean {
  return isJsonObject(value) && Object.hasOwn(value, 'type') && Object.hasOwn(value, 'data');
}
