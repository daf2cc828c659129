import type { FieldErrors } from './field-errors.js';

/**
 * Returns the path of an object member (`a.b`, `a["b c"]`) for the `errors` in a response. Shows `*` in place of a key
 * that may itself be a sensitive value.
 */
export function memberPath(path: string, key: string): string {
  const shown = printableKey(key);
  if (!/^(?:[\w-]+|\*)$/.test(shown)) return `${path}[${JSON.stringify(shown)}]`;
  return path === '' ? shown : `${path}.${shown}`;
}

/** Returns the path of an array item (`a[0]`). */
export function itemPath(path: string, index: number): string {
  return `${path}[${index}]`;
}

/** Returns the path of a field, given the keys and indexes on the way to it, such as the path in an issue of a schema. */
export function fieldPath(steps: readonly PropertyKey[]): string {
  return steps.reduce<string>(
    (path, step) => (typeof step === 'number' ? itemPath(path, step) : memberPath(path, String(step))),
    '',
  );
}

type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };
const issuesMax = 20;

/**
 * Returns the issues that a schema found, keyed by field. Returns at most `issuesMax` of them. `whole` is the key of an
 * issue that concerns the whole input.
 */
export function issueErrors(issues: readonly Issue[], whole: string): FieldErrors {
  const errors = new Map<string, string[]>();
  for (const { path, message } of issues.slice(0, issuesMax)) {
    const shown = fieldPath(path);
    const field = shown === '' ? whole : shown;
    errors.set(field, [...(errors.get(field) ?? []), message]);
  }
  return Object.fromEntries(errors);
}

/** Returns the errors with `path` prepended to each path (`data.number` under `a[0]` becomes `a[0].data.number`). */
export function errorsUnder(path: string, errors: FieldErrors): FieldErrors {
  const entries = Object.entries(errors).map(([field, messages]) => [under(path, field), messages] as const);
  return Object.fromEntries(entries);
}

function under(path: string, field: string): string {
  if (path === '' || field === '') return `${path}${field}`;
  return field.startsWith('[') ? `${path}${field}` : `${path}.${field}`;
}

/**
 * Returns a key from the caller's JSON as it may appear in the path of an error. Returns `*` if the key has more than
 * 40 characters, six or more digits, or unprintable characters. Threat: a key may itself be sensitive, such as a
 * person's account number (docs/contract.md, "Errors").
 */
export function printableKey(key: string): string {
  return key.length <= 40 && !/(?:\p{N}\P{N}*){6}/u.test(key) && !/\p{C}/u.test(key) ? key : '*';
}
