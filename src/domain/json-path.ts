import type { FieldErrors } from './field-errors.js';
import { printableKey } from './printable-key.js';

/** The path of a member (`a.b`, `a["b c"]`) for the `errors` of a problem; a key that may be a value is `*`. */
export function memberPath(path: string, key: string): string {
  const shown = printableKey(key);
  if (!/^(?:[\w-]+|\*)$/.test(shown)) return `${path}[${JSON.stringify(shown)}]`;
  return path === '' ? shown : `${path}.${shown}`;
}

/** The path of an item (`a[0]`). */
export function itemPath(path: string, index: number): string {
  return `${path}[${index}]`;
}

/** The same errors with each path under another one (`data.number` under `a[0]` is `a[0].data.number`). */
export function errorsUnder(path: string, errors: FieldErrors): FieldErrors {
  const entries = Object.entries(errors).map(([field, messages]) => [under(path, field), messages] as const);
  return Object.fromEntries(entries);
}

function under(path: string, field: string): string {
  if (path === '' || field === '') return `${path}${field}`;
  return field.startsWith('[') ? `${path}${field}` : `${path}.${field}`;
}
