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

export type ClaimBegin =
  | { readonly state: 'fresh' }
  | { readonly state: 'in_flight' }
  | { readonly state: 'done'; readonly result: ClaimResult };

/** Who owns an idempotency key. A finished claim is written by `UnitOfWork.commit` beside the events it stands for. */
export interface Claims {
  /** `fresh` makes the caller the owner until `release`. Claims finished before `notBefore` (ms) count as absent. */
  begin(cmd: string, notBefore: number): Promise<ClaimBegin>;
  release(cmd: string): Promise<void>;
  /** Forgets claims finished before `notBefore`. */
  forget(notBefore: number): Promise<void>;
}
