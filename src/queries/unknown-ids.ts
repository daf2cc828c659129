import type { Caller } from '../domain/access/caller.js';
import type { Rejected } from '../vault/result.js';
import type { Vault } from '../vault/vault.js';

/**
 * Charges the caller one guess for each id in the request that belongs to no token. Call this after the look-up, before
 * the response is sent. Returns a rejection if the caller has used up its guesses, even if all ids are known.
 */
export async function chargeUnknownIds(
  { guesses }: Vault,
  caller: Caller,
  ids: number,
  unknown: number,
): Promise<Rejected | null> {
  return ids === 0 ? null : guesses.charge(caller, unknown);
}
