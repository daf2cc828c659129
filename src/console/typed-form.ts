import { z } from 'zod';
import { type Checked, type FieldErrors, invalid, valid } from '../domain/field-errors.js';
import { lastChangeOf, type Stamps } from '../domain/tenancy/stamps.js';
import { Problem } from '../http/problem/problem.js';
import type { Visit } from './page.js';
import { sentence, shownText } from './shown-text.js';

/** A posted form whose fields are not known in advance, such as a form with a list of rules. */
export type TypedForm = {
  readonly names: readonly string[];
  /**
   * Returns the trimmed text of a field, or an empty string if the form does not contain the field. Returns the text
   * unchanged if it is one of the `stored` texts. Otherwise, saving a form would change a name that begins with a space.
   */
  text(name: string, ...stored: readonly (string | null | undefined)[]): string;
  /** Returns all values of a field, such as the selected boxes of a group. */
  values(name: string): readonly string[];
};

const shortTextMax = 10_000;
const tooLong = { error: `must have at most ${shortTextMax} characters` };
/**
 * A form field for anything but a token's data or mask. The limit is far above the limits of the vault. Threat: a
 * client posts a field with a million lines, and splitting, checking and showing them again stalls all callers.
 */
export const shortText = z.string().max(shortTextMax, tooLong);
/** A form field that may be repeated. */
export const shortTexts = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => [given].flat())
  .refine((texts) => texts.every((text) => text.length <= shortTextMax), tooLong);

const anyForm = z.record(z.string(), shortTexts);

/**
 * Parses the posted form. Throws Problem 400 if it is invalid. Use it for a form that the page cannot show again with
 * its errors.
 */
export function validForm<T>(visit: Visit, schema: z.ZodType<T>): T {
  const read = visit.form(schema);
  if (!read.ok) throw new Problem('validation_failed', { errors: read.errors });
  return read.value;
}

export function typedForm(visit: Visit): TypedForm {
  const fields = new Map(Object.entries(validForm(visit, anyForm)));
  const values = (name: string): readonly string[] => fields.get(name) ?? [];
  const text: TypedForm['text'] = (name, ...stored) => {
    const [given = ''] = values(name);
    return stored.includes(given) ? given : given.trim();
  };
  return { names: [...fields.keys()], values, text };
}

/** Returns the first error in each of these fields, or null for a valid field. */
export function firstErrors(errors: FieldErrors, fields: readonly string[]): Readonly<Record<string, string | null>> {
  return Object.fromEntries(fields.map((field) => [field, errors[field]?.[0] ?? null]));
}

/**
 * Returns, as a sentence, the first error in a field or in one of its list items. Returns null if the field has no
 * error.
 */
export function errorOf(errors: FieldErrors, field: string): string | null {
  const found = Object.entries(errors).find(
    ([path]) => path === field || (path.startsWith(`${field}[`) && path.endsWith(']')),
  );
  const [message] = found?.[1] ?? [];
  return message === undefined ? null : sentence(message);
}

/**
 * Checks the name that a person typed to confirm a deletion. Some characters in a name cannot be typed, so the name may
 * be typed either exactly or as the page shows it.
 */
export function confirmed(typed: string, name: string): Checked<null> {
  const isName = typed !== '' && (typed === name.trim() || typed === shownText(name).trim());
  return isName ? valid(null) : invalid('confirmation', 'the text does not match the name, so nothing was deleted');
}

/**
 * Returns the time of the document's last change, as the API shows it. A form contains this value, so that it does not
 * overwrite a change that was made after the form was opened.
 */
export function versionOf(document: Pick<Stamps, 'created_at' | 'modified_at'>): string {
  return String(lastChangeOf(document));
}

const onceField = z.object({ once: z.uuid({ error: 'is missing. Open the form again.' }) });

/**
 * Returns the idempotency key for a form that issues a secret. Without this key, reloading the response would issue a
 * second secret.
 */
export function onceOf(
  visit: Visit,
  path: string,
): { readonly method: string; readonly path: string; readonly key: string } {
  const { once } = validForm(visit, onceField);
  return { method: 'POST', path, key: `console:${once}` };
}
