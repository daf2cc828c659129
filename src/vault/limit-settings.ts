/** The limits for each application and each address. 0 means no limit. See docs/contract.md, "Rate limits". */
export type LimitSettings = {
  /** The number of requests that an application may send per window. */
  readonly requests: number;
  readonly windowMs: number;
  /** The number of requests without a valid key that an address may send per window. */
  readonly authFailures: number;
  /** The number of requests that an address may send per window to pages that need no key. */
  readonly keylessRequests: number;
  /** The number of guesses that an application may make per hour. There is no limit if `requests` is 0. */
  readonly guesses: number;
  /**
   * The number of deduplication misses that an application may cause per hour. There is no limit if `requests` is 0.
   */
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
