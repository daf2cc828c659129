import type { Caller } from '../../domain/access/caller.js';
import { readsEveryValue, transformFor } from '../../domain/access/decide-access.js';
import type { ReadToken } from '../../queries/read-token.js';
import type { ChargedMisses } from '../../vault/guesses.js';
import type { Rejected } from '../../vault/result.js';
import type { Vault } from '../../vault/vault.js';

const nothingCharged: ChargedMisses = { ok: true, hits: () => undefined };

/**
 * Charges a request for the distinct values that it is about to deduplicate, before any look-up: a caller that may not read every
 * value in plaintext learns whether some token has each value. Hits are given back through the result.
 */
export async function chargeDeduplication(
  { guesses }: Vault,
  caller: Caller,
  values: number,
): Promise<ChargedMisses | Rejected> {
  return values === 0 || readsEveryValue(caller, null) ? nothingCharged : guesses.chargeMisses(caller, values);
}

/**
 * Charges a guess for each of these tokens that the caller may not read: a deduplication onto it tells that the value exists. Returns
 * the rejection once the guesses are used up, for a hit and for a miss alike, and null if the caller may learn the result of its
 * deduplication.
 */
export async function refuseDeduplication(
  { guesses }: Vault,
  caller: Caller,
  met: readonly ReadToken[],
): Promise<Rejected | null> {
  // A caller that may read every token learns nothing more from a deduplication.
  if (transformFor(caller, 'token:read', ['/']) !== null) return null;
  const unread = met.filter(({ open }) => transformFor(caller, 'token:read', open.containers) === null).length;
  return unread === 0 ? guesses.refusal(caller) : guesses.charge(caller, unread);
}
