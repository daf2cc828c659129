import type { FieldErrors } from '../../domain/field-errors.js';

/** Returns a sentence of the API in the style of the command line, whose messages begin in lower case. */
export function inLowerCase(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

/** Formats field errors as lines of text, such as `data.number: must ...`. */
export function fieldErrorText(errors: FieldErrors): string {
  return Object.entries(errors)
    .map(([path, messages]) => `${path}: ${messages.join('; ')}`)
    .join('\n');
}
