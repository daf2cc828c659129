import type { FieldErrors } from './field-errors.js';

/** Returns the path of a member (`a.b`, `a["b c"]`) for the `errors` of a problem. A key that may be a value is `*`. */
export function memberPath(path: string, key: string): string {
  const shown = printableKey(key);
  if (!/^(?:[\w-]+|\*)$/.test(shown)) return `${path}[${JSON.stringify(shown)}]`;
  return path === '' ? shown : `${path}.${shown}`;
}

/** Returns the path of an item (`a[0]`). */
export function itemPath(path: string, index: number): string {
  return `${path}[${index}]`;
}

/** Returns the errors with each path under another path (`data.number` under `a[0]` is `a[0].data.number`). */
export function errorsUnder(path: string, errors: FieldErrors): FieldErrors {
  const entries = Object.entries(errors).map(([field, messages]) => [under(path, field), messages] as const);
  return Object.fromEntries(entries);
}

function under(path: string, field: string): string {
  if (path === '' || field === '') return `${path}${field}`;
  return field.startsWith('[') ? `${path}${field}` : `${path}.${field}`;
}

/**
 * Returns a key of the caller's JSON as the path of an error shows it: `*` if it is long or has six or more digits.
 * Threat: a key is data too, and may be a person's number (docs/contract.md, "Errors").
 */
export function printableKey(key: string): string {
  return key.length <= 40 && !/(?:\p{N}\P{N}*){6}/u.test(key) && !/\p{C}/u.test(key) ? key : '*';
}
