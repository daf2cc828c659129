/** The limits for one application and one address; 0 means no limit. See docs/contract.md, "Rate limits". */
export type LimitSettings = {
  /** Requests by an application per window. */
  readonly requests: number;
  readonly windowMs: number;
  /** Requests without a valid key from an address per window. */
  readonly authFailures: number;
  /** Requests from an address per window for pages that need no key. */
  readonly keylessRequests: number;
  /** Guesses by an application per hour; no limit while `requests` is 0. */
  readonly guesses: number;
  /** Deduplication misses by an application per hour; no limit while `requests` is 0. */
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
