import { passesLuhn } from '../luhn.js';
import { checkId } from '../token/fields/id.js';

/**
 * Whether an error may name this id. docs/contract.md, "Detokenize", asks for it; docs/contract.md, "Errors", forbids
 * to repeat values. Threat: a
 * card or account number that was taken for an id would then stand in the logs of whoever called. So an id is not named
 * when it cannot be one, when it is a number, or when a number in it may be that of a card.
 */
export function nameable(id: string): boolean {
  if (!checkId(id).ok) return false;
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return true;
  const digits = id.match(/\p{N}/gu) ?? [];
  if (digits.length >= 6 && !/\p{L}/u.test(id)) return false;
  const numbers = id.match(/\d(?:[ -]?\d){11,18}/g) ?? [];
  return !numbers.some((number) => passesLuhn(number.replaceAll(/[ -]/g, '')));
}
