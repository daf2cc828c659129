/**
 * The limits for each application and each address. A value of 0 means that there is no limit (docs/contract.md, "Rate
 * limits").
 */
export type LimitSettings = {
  /** The number of requests that an application can send per window. */
  readonly requests: number;
  readonly windowMs: number;
  /** The number of requests without a valid key that an address can send per window. */
  readonly authFailures: number;
  /** The number of page requests without a key that an address can send per window. */
  readonly keylessRequests: number;
  /** The number of guesses that an application can make per hour. If `requests` is 0, there is no limit. */
  readonly guesses: number;
  /**
   * The number of deduplication misses that an application can cause per hour. If `requests` is 0, there is no limit.
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
