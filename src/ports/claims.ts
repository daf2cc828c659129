import type { FinishedClaim } from '../views/finished-claim.js';
import type { Stored } from '../views/row-mac.js';

export type ClaimBegin =
  | { readonly state: 'fresh' }
  | { readonly state: 'in_flight' }
  | { readonly state: 'done'; readonly claim: Stored<FinishedClaim> };

/** Who owns an idempotency key. A finished claim is written by `UnitOfWork.commit` beside the events it stands for. */
export interface Claims {
  /** `fresh` makes the caller the owner until `release`. Claims finished before `notBefore` (ms) count as absent. */
  begin(cmd: string, notBefore: number): Promise<ClaimBegin>;
  release(cmd: string): Promise<void>;
  /** Forgets claims finished before `notBefore`. */
  forget(notBefore: number): Promise<void>;
  /** Returns at most `limit` claims that have a result, those after `afterCmd` in the order of `cmd`. */
  page(afterCmd: string, limit: number): Promise<readonly Stored<FinishedClaim>[]>;
}
