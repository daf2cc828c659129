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
