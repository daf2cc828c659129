import { type Checked, invalid, valid } from '../field-errors.js';
import { codePointCount, isWellFormed } from '../text.js';

const charactersMax = 200;

const control = /\p{Cc}/u;

/**
 * The name of a tenant or an application: 1-200 characters. No control characters: the command line prints names, and a
 * terminal would obey them. Contract, section 10.
 */
export function parseName(text: string): Checked<string> {
  const fits = text !== '' && codePointCount(text) <= charactersMax && isWellFormed(text) && !control.test(text);
  return fits ? valid(text) : invalid('name', `must have 1 to ${charactersMax} characters, none a control character`);
}
