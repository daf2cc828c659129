import { type Checked, invalid, valid } from '../../field-errors.js';
import type { Json } from '../../json.js';
import { codePointCount, isWellFormed } from '../../text.js';

const charactersMin = 3;
const charactersMax = 400;
const forbidden = /[#/\\+?[\]|&=%<>{}^]/;
const control = /\p{Cc}/u;

/** A token id as it is stored: what the caller gave, or what its expression evaluated to. Contract, section 3. */
export function checkId(value: Json): Checked<string> {
  if (typeof value !== 'string') return invalid('id', 'must be a string');
  const characters = codePointCount(value);
  if (characters < charactersMin || characters > charactersMax) {
    return invalid('id', `must have ${charactersMin} to ${charactersMax} characters`);
  }
  if (forbidden.test(value)) return invalid('id', 'must not contain any of # / \\ + ? [ ] | & = % < > { } ^');
  if (control.test(value)) return invalid('id', 'must not contain control characters');
  if (!isWellFormed(value)) return invalid('id', 'must be well-formed Unicode');
  return valid(value);
}
