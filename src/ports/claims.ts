import type { Stored } from '../views/row-mac.js';

/** One token of a finished command: its stream, and the revision that its life began with. */
export type ClaimedToken = {
  readonly stream: string;
  readonly createdRevision: number;
  /**
   * The revision of the content whose fingerprint the request carried every value of; absent: it did not. The repeat
   * shows the fingerprint while this is still the content.
   */
  readonly carriedContent?: number;
  /** The token was there before, with the same fingerprint. */
  readonly deduplicated?: boolean;
  /** It was returned to a request with a cvc. */
  readonly cvcIgnored?: boolean;
};

/** What a finished command left, enough to render its answer again, in its order: no body, no data. */
export type ClaimResult = {
  readonly tokens: readonly ClaimedToken[];
  /** The application that was made, or that was given a key; `keyId` is the key's. */
  readonly application?: { readonly id: string; readonly keyId: string };
};

/** The claim of a command that finished at `time` (ms); `cmd` is the keyed hash of the request that it belongs to. */
export type FinishedClaim = { readonly cmd: string; readonly result: ClaimResult; readonly time: number };

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
