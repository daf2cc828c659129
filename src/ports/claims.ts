import type { FinishedClaim } from '../views/finished-claim.js';
import type { Stored } from '../views/row-mac.js';

export type ClaimBegin =
  | { readonly state: 'fresh' }
  | { readonly state: 'in_flight' }
  | { readonly state: 'done'; readonly claim: Stored<FinishedClaim> };

/** The owners of idempotency keys. `UnitOfWork.commit` writes a finished claim together with its events. */
export interface Claims {
  /**
   * Claims a key. After `fresh`, the caller owns it until `release`. Claims that finished before `notBefore` (ms)
   * count as absent.
   */
  begin(cmd: string, notBefore: number): Promise<ClaimBegin>;
  release(cmd: string): Promise<void>;
  /** Removes claims that finished before `notBefore`. */
  forget(notBefore: number): Promise<void>;
  /** Returns at most `limit` claims with a result after `afterCmd`, in the order of `cmd`. */
  page(afterCmd: string, limit: number): Promise<readonly Stored<FinishedClaim>[]>;
}
