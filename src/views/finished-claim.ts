/** A token in the result of a finished command: its stream, and the revision at which its life began. */
export type ClaimedToken = {
  readonly stream: string;
  readonly createdRevision: number;
  /**
   * The revision of the content. It is present only if the request contained every value that the fingerprint is
   * computed from. The response to a retry includes the fingerprint as long as the content still has this revision.
   */
  readonly carriedContent?: number;
  /** True if a token with the same fingerprint already existed. */
  readonly deduplicated?: boolean;
  /** True if the request contained a cvc, which was ignored because the token already existed. */
  readonly cvcIgnored?: boolean;
};

/**
 * The result of a finished command. It is sufficient to render the command's response again, but contains neither the
 * request body nor token data.
 */
export type ClaimResult = {
  readonly tokens: readonly ClaimedToken[];
  /** The application that was created or that received a new key. `keyId` is the id of that key. */
  readonly application?: { readonly id: string; readonly keyId: string };
  /** The id of the webhook that was created. */
  readonly webhookId?: string;
};

/**
 * The claim of a command that finished at `time` (ms, from `latestNow`). If the command runs while the clock is known
 * to be behind, its claim is therefore not discarded as soon as the clock is right. `cmd` is the keyed hash of the
 * request that the claim belongs to.
 */
export type FinishedClaim = { readonly cmd: string; readonly result: ClaimResult; readonly time: number };
