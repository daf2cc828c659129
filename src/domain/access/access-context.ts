import { type Checked, errorsOf, invalid, valid } from '../field-errors.js';
import { codePointCount, isWellFormed } from '../text.js';

/**
 * What a request says about itself: the person for whom the application acts, and why the person wants to see or change
 * something. Strongroom records both and checks neither. It encrypts them together with the trace id.
 */
export type AccessContext = { readonly person: string | null; readonly reason: string | null };

/** Texts of a request, or undefined, under the names that errors give them. */
export type GivenContext = Readonly<
  Record<keyof AccessContext, { readonly name: string; readonly text: string | undefined }>
>;

const charactersMax = { person: 200, reason: 500 } as const;

/** Returns the context of a request, or null if it has neither a person nor a reason. */
export function parseAccessContext({ person, reason }: GivenContext): Checked<AccessContext | null> {
  if (person.text === undefined && reason.text === undefined) return valid(null);
  const checked = [
    parseText(person.name, person.text, charactersMax.person),
    parseText(reason.name, reason.text, charactersMax.reason),
  ] as const;
  const errors = errorsOf(checked);
  if (errors !== null) return { ok: false, errors };
  return valid({ person: person.text ?? null, reason: reason.text ?? null });
}

function parseText(name: string, text: string | undefined, max: number): Checked<null> {
  if (text === undefined) return valid(null);
  const length = codePointCount(text);
  if (length === 0 || length > max) return invalid(name, `must have 1 to ${max} characters`);
  if (text.trim() === '') return invalid(name, 'must contain more than spaces');
  if (/\p{Cc}/u.test(text) || !isWellFormed(text)) return invalid(name, 'must not contain control characters');
  if (mayContainCardNumber(text)) return invalid(name, 'must not contain twelve or more digits in a row');
  return valid(null);
}

/**
 * Threat: a person pastes the card number that they look for. The records would contain it after the token is erased.
 * Twelve digits are the shortest card number (ADR 18).
 */
function mayContainCardNumber(text: string): boolean {
  return /\p{Nd}{12}/u.test(text.replaceAll(/[\s._\p{Pd}\p{Cf}]/gu, ''));
}
