import { passesLuhn } from '../luhn.js';
import { checkId } from '../token/fields/id.js';

/**
 * Returns whether an error may name this id. docs/contract.md, "Detokenize", requires the name; docs/contract.md,
 * "Errors", forbids repeating values. Threat: a card or account number in the place of an id would end up in the
 * caller's logs. So an id is not named if it is not a valid id, if it is a number, or if it contains what may be a card
 * number.
 */
export function nameable(id: string): boolean {
  if (!checkId(id).ok) return false;
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return true;
  const digits = id.match(/\p{N}/gu) ?? [];
  if (digits.length >= 6 && !/\p{L}/u.test(id)) return false;
  const numbers = id.match(/\d(?:[ -]?\d){11,18}/g) ?? [];
  return !numbers.some((number) => passesLuhn(number.replaceAll(/[ -]/g, '')));
}
