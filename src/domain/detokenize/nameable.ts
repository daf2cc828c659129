import { passesLuhn } from '../luhn.js';
import { checkId } from '../token/fields/id.js';

/**
 * Returns whether an error may repeat this id. Errors must name the id (docs/contract.md, "Detokenize") but must not
 * repeat values (docs/contract.md, "Errors"). Threat: a caller sends a card or account number in place of an id, and
 * the error puts that number into the caller's logs. Returns false for an invalid id, an id with six or more digits and
 * no letters, or an id that may contain a card number.
 */
export function nameable(id: string): boolean {
  if (!checkId(id).ok) return false;
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return true;
  const digits = id.match(/\p{N}/gu) ?? [];
  if (digits.length >= 6 && !/\p{L}/u.test(id)) return false;
  const numbers = id.match(/\d(?:[ -]?\d){11,18}/g) ?? [];
  return !numbers.some((number) => passesLuhn(number.replaceAll(/[ -]/g, '')));
}
