/** The limits of one application and one address; 0: no limit. See docs/contract.md, "Rate limits". */
export type LimitSettings = {
  /** Requests of an application in a window. */
  readonly requests: number;
  readonly windowMs: number;
  /** Requests without a valid key from an address in a window. */
  readonly authFailures: number;
  /** Requests from an address in a window for pages that need no key. */
  readonly keylessRequests: number;
  /** Guesses of an application in an hour; no limit while `requests` is 0. */
  readonly guesses: number;
  /** Deduplications of an application in an hour that find nothing; no limit while `requests` is 0. */
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
