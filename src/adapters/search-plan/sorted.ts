import type { Json } from '../../domain/json.js';

/** Returns a value with sorted object keys, so that equal values serialize to the same text. */
export function sorted(value: Json): Json {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([key, item]) => [key, sorted(item as Json)]),
  );
}
