/** One token of a finished command: its stream, and the revision at which its life began. */
export type ClaimedToken = {
  readonly stream: string;
  readonly createdRevision: number;
  /**
   * The content's revision if the request contained every value that the fingerprint reads; otherwise absent. A retry
   * returns the fingerprint as long as the content has this revision.
   */
  readonly carriedContent?: number;
  /** The token existed before, with the same fingerprint. */
  readonly deduplicated?: boolean;
  /** The token was returned to a request that contained a cvc. */
  readonly cvcIgnored?: boolean;
};

/** The result of a finished command: enough to render its response again, but without the request body or data. */
export type ClaimResult = {
  readonly tokens: readonly ClaimedToken[];
  /** The application that was created or received a key. `keyId` is the key's id. */
  readonly application?: { readonly id: string; readonly keyId: string };
};

/** The claim of a command that finished at `time` (ms); `cmd` is the keyed hash of the request that it belongs to. */
export type FinishedClaim = { readonly cmd: string; readonly result: ClaimResult; readonly time: number };
