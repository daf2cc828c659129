import type { FinishedClaim } from '../views/finished-claim.js';
import type { Stored } from '../views/row-mac.js';

export type ClaimBegin =
  | { readonly state: 'fresh' }
  | { readonly state: 'in_flight' }
  | { readonly state: 'done'; readonly claim: Stored<FinishedClaim> };

/** Claims on idempotency keys. `UnitOfWork.commit` writes a finished claim together with the command's events. */
export interface Claims {
  /**
   * Claims a key. If the result is `fresh`, the caller owns the key until it commits the claim or calls `release`. A
   * claim that finished before `notBefore` (ms) is ignored.
   */
  begin(cmd: string, notBefore: number): Promise<ClaimBegin>;
  release(cmd: string): Promise<void>;
  /** Removes claims that finished before `notBefore`. */
  forget(notBefore: number): Promise<void>;
  /** Returns at most `limit` finished claims whose `cmd` sorts after `afterCmd`, in order of `cmd`. */
  page(afterCmd: string, limit: number): Promise<readonly Stored<FinishedClaim>[]>;
}
