/**
 * The validation errors in a request, keyed by field. Each key is a JSON path that uses the names from the request
 * (`data.number`, `search_indexes[0]`), and its value is a list of messages. A message never repeats a value from the
 * request (docs/contract.md, "Errors").
 */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: FieldErrors };

export function valid<T>(value: T): Checked<T> {
  return { ok: true, value };
}

export function invalid<T = never>(path: string, message: string): Checked<T> {
  return { ok: false, errors: { [path]: [message] } };
}

/**
 * Returns the combined errors of several checks, without duplicates, or null if all checks passed. Threat: a caller
 * sends a 4 MiB body with 250,000 invalid fields that all cause the same error at the same path.
 */
export function errorsOf(checks: readonly Checked<unknown>[]): FieldErrors | null {
  const errors = new Map<string, Set<string>>();
  for (const check of checks) {
    if (check.ok) continue;
    for (const [path, messages] of Object.entries(check.errors)) {
      const known = errors.get(path) ?? new Set();
      for (const message of messages) known.add(message);
      errors.set(path, known);
    }
  }
  return errors.size === 0 ? null : Object.fromEntries([...errors].map(([path, messages]) => [path, [...messages]]));
}
