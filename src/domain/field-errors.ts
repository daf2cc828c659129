/**
 * What is wrong with a request, by field: the JSON path in request casing (`data.number`, `search_indexes[0]`) to its
 * messages. A message never repeats a value of the request (contract, section 1 "Errors").
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

/** All errors of several checks together; null when every one passed. */
export function errorsOf(checks: readonly Checked<unknown>[]): FieldErrors | null {
  const errors = new Map<string, string[]>();
  for (const check of checks) {
    if (check.ok) continue;
    for (const [path, messages] of Object.entries(check.errors)) {
      errors.set(path, [...(errors.get(path) ?? []), ...messages]);
    }
  }
  return errors.size === 0 ? null : Object.fromEntries(errors);
}
