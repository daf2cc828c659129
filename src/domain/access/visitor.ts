import { type Checked, errorsOf, invalid, valid } from '../field-errors.js';
import { codePointCount, isWellFormed } from '../text.js';

/**
 * The person for whom an application makes a request, and the reason for it (docs/contract.md, "Person and reason").
 * Strongroom records both, encrypted together with the trace id. They have no effect on access.
 */
export type Visitor = {
  /**
   * The person's name, as typed in the console or as stated by the identity provider or the API request. Null if an API
   * request states only a reason.
   */
  readonly name: string | null;
  /**
   * The issuer URL of the identity provider that stated the name. Null if the person or the application stated the
   * name.
   */
  readonly issuer: string | null;
  /** The reason for the request. Null if no reason was stated. */
  readonly reason: string | null;
};

/**
 * Returns the person, the issuer and the reason as fields, and omits the fields that are null. Returns an empty object
 * if `visitor` is null.
 */
export function visitorFields(visitor: Visitor | null): Readonly<Record<string, string>> {
  if (visitor === null) return {};
  const { name, issuer, reason } = visitor;
  return {
    ...(name === null ? {} : { person: name }),
    ...(issuer === null ? {} : { person_issuer: issuer }),
    ...(reason === null ? {} : { reason }),
  };
}

/**
 * The person and reason stated in a request. `name` is the name of the field in error messages. `text` is undefined if
 * the field is absent.
 */
export type StatedVisitor = Readonly<
  Record<'person' | 'reason', { readonly name: string; readonly text: string | undefined }>
>;

const charactersMax = { person: 200, reason: 500 } as const;

/** Returns the visitor stated in a request, or null if the request states neither a person nor a reason. */
export function parseVisitor({ person, reason }: StatedVisitor): Checked<Visitor | null> {
  if (person.text === undefined && reason.text === undefined) return valid(null);
  const errors = errorsOf([
    checkText(person.name, person.text, charactersMax.person),
    checkText(reason.name, reason.text, charactersMax.reason),
  ]);
  if (errors !== null) return { ok: false, errors };
  return valid({ name: person.text ?? null, issuer: null, reason: reason.text ?? null });
}

function checkText(name: string, text: string | undefined, max: number): Checked<null> {
  if (text === undefined) return valid(null);
  const length = codePointCount(text);
  if (length === 0 || length > max) return invalid(name, `must have 1 to ${max} characters`);
  if (!isVisible(text)) return invalid(name, 'must contain a visible character');
  if (/\p{Cc}/u.test(text) || !isWellFormed(text)) return invalid(name, 'must not contain control characters');
  if (mayContainCardNumber(text)) return invalid(name, 'must not contain twelve or more digits in a row');
  return valid(null);
}

/**
 * Returns whether text contains a visible character. Threat: a person who must state a name or a reason enters only
 * invisible characters.
 */
export function isVisible(text: string): boolean {
  // Some letters and symbols are blank: the Hangul fillers and the Braille pattern without dots.
  return /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u.test(text);
}

/**
 * Returns whether text may contain a card number. Threat: a person pastes the card number that they are looking for,
 * and the access log still contains this number after the token is erased. The shortest card numbers have 12 digits
 * (ADR 18).
 */
export function mayContainCardNumber(text: string): boolean {
  return /\p{Nd}{12}/u.test(text.replaceAll(/[\s._\p{Pd}\p{Cf}]/gu, ''));
}
