import type { Json } from '../../domain/json.js';

/** The same for the same values, whatever order they were written in. */
export function sorted(value: Json): Json {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([key, item]) => [key, sorted(item as Json)]),
  );
}
