import type { Caller } from '../domain/access/caller.js';
import type { Rejected } from '../vault/result.js';
import type { Vault } from '../vault/vault.js';

/**
 * Charges the caller one guess for each id in the request that matches no token. Call it after the look-up and before
 * the response leaves. Returns a rejection if the guesses are used up, for known and unknown ids alike.
 */
export async function chargeUnknownIds(
  { guesses }: Vault,
  caller: Caller,
  ids: number,
  unknown: number,
): Promise<Rejected | null> {
  if (ids === 0) return null;
  return unknown === 0 ? guesses.refusal(caller) : guesses.charge(caller, unknown);
}
