import type { FieldErrors } from '../../domain/field-errors.js';

/** Formats field errors as lines of text, such as `data.number: must ...`. */
export function fieldErrorText(errors: FieldErrors): string {
  return Object.entries(errors)
    .map(([path, messages]) => `${path}: ${messages.join('; ')}`)
    .join('\n');
}
