import { type Checked, errorsOf, invalid, valid } from '../field-errors.js';
import { codePointCount, isWellFormed } from '../text.js';

/**
 * The person for whom an application makes a request, and the reason (docs/contract.md, "Person and reason").
 * Strongroom records both, encrypted together with the trace id. No access depends on them.
 */
export type Visitor = {
  /**
   * The name that the person typed at the console, that the identity provider stated, or that the request to the API
   * states. Null if a request to the API states only a reason.
   */
  readonly name: string | null;
  /** The identity provider that states the name, as its issuer URL. Null if the person or the application states it. */
  readonly issuer: string | null;
  /** Why the person does this. Null if none was given. */
  readonly reason: string | null;
};

/** Returns the fields that name the person and the reason; none if there was no person. */
export function visitorFields(visitor: Visitor | null): Readonly<Record<string, string>> {
  if (visitor === null) return {};
  const { name, issuer, reason } = visitor;
  return {
    ...(name === null ? {} : { person: name }),
    ...(issuer === null ? {} : { person_issuer: issuer }),
    ...(reason === null ? {} : { reason }),
  };
}

/** The person and the reason that a request states, or undefined, under the names that errors give them. */
export type StatedVisitor = Readonly<
  Record<'person' | 'reason', { readonly name: string; readonly text: string | undefined }>
>;

const charactersMax = { person: 200, reason: 500 } as const;

/** Returns the visitor that a request states, or null if it states neither a person nor a reason. */
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
  // Threat: a reason of invisible characters is none.
  if (!/[\p{L}\p{N}\p{P}\p{S}]/u.test(text)) return invalid(name, 'must contain more than spaces');
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
