import type { Json } from '../../../domain/json.js';

/** Returns a copy of a value, with all object keys sorted. Equal values then serialize to equal strings. */
export function sorted(value: Json): Json {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([key, item]) => [key, sorted(item as Json)]),
  );
}
