/** The limits for each application and each address. 0 means no limit. See docs/contract.md, "Rate limits". */
export type LimitSettings = {
  /** The requests that an application may make per window. */
  readonly requests: number;
  readonly windowMs: number;
  /** The requests without a valid key that are allowed from an address per window. */
  readonly authFailures: number;
  /** The requests for pages that need no key that are allowed from an address per window. */
  readonly keylessRequests: number;
  /** The guesses that an application may make per hour. There is no limit if `requests` is 0. */
  readonly guesses: number;
  /** The deduplication misses that an application may cause per hour. There is no limit if `requests` is 0. */
  readonly deduplicationMisses: number;
};

export const noLimits: LimitSettings = {
  requests: 0,
  windowMs: 1_000,
  authFailures: 0,
  keylessRequests: 0,
  guesses: 0,
  deduplicationMisses: 0,
};
