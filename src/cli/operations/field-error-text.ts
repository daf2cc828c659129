import type { FieldErrors } from '../../domain/field-errors.js';
import { itemPath, memberPath } from '../../domain/json-path.js';

/** Formats field errors as lines of text, such as `data.number: must ...`. */
export function fieldErrorText(errors: FieldErrors): string {
  return Object.entries(errors)
    .map(([path, messages]) => `${path}: ${messages.join('; ')}`)
    .join('\n');
}

type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };
const issuesMax = 20;

/**
 * Returns a schema's issues, grouped by path. Paths have the same form as in the HTTP API. `whole` is the path for an
 * issue that concerns the whole input.
 */
export function issueErrors(issues: readonly Issue[], whole: string): FieldErrors {
  const errors = new Map<string, string[]>();
  for (const { path, message } of issues.slice(0, issuesMax)) {
    const shown = path.reduce<string>(
      (parent, part) => (typeof part === 'number' ? itemPath(parent, part) : memberPath(parent, String(part))),
      '',
    );
    const field = shown === '' ? whole : shown;
    errors.set(field, [...(errors.get(field) ?? []), message]);
  }
  return Object.fromEntries(errors);
}
