import type { Json } from '../../domain/json.js';

/** Returns the value with sorted object keys, so that equal values serialize equally. */
export function sorted(value: Json): Json {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([key, item]) => [key, sorted(item as Json)]),
  );
}
