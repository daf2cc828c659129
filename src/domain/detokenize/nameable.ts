import { checkId } from '../token/fields/id.js';

const uuid = /(?<![\p{L}\p{N}])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\p{L}\p{N}])/giu;

/**
 * Returns whether an error may repeat this id. Errors must name the id (docs/contract.md, "Detokenize") but must not
 * repeat values (docs/contract.md, "Errors"). Threat: a caller sends a card or account number in place of an id, and
 * the error puts that number into the caller's logs. Returns false for an invalid id, an id with nine or more digits of
 * any script, or an id with six or more digits and no letters. The digits are counted over the whole id, so the result
 * does not depend on how a number is grouped. The digits and letters of UUIDs do not count, because the vault generates
 * UUIDs.
 */
export function nameable(id: string): boolean {
  if (!checkId(id).ok) return false;
  const rest = id.replaceAll(uuid, '');
  const digits = rest.match(/\p{N}/gu)?.length ?? 0;
  return digits < (/\p{L}/u.test(rest) ? 9 : 6);
}
