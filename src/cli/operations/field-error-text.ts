import type { FieldErrors } from '../../domain/field-errors.js';

/** Returns the text of a problem as a message of the command line. Like all of these messages, it begins in lower case. */
export function problemText(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

/** Formats field errors as lines of text, such as `data.number: must ...`. */
export function fieldErrorText(errors: FieldErrors): string {
  return Object.entries(errors)
    .map(([path, messages]) => `${path}: ${messages.join('; ')}`)
    .join('\n');
}
