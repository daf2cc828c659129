import type { Maybe } from './maybe.js';

export type LimitName = 'requests' | 'auth_failures' | 'keyless_requests';

/** At most `max` uses per window. A window begins with the first use after the previous window has ended. */
export type Limit = { readonly name: LimitName; readonly max: number; readonly windowMs: number };

export type Used = {
  /** The total use in the current window, including this use. */
  readonly used: number;
  /** The number of milliseconds until the current window ends; 0 if no window has begun. */
  readonly endsInMs: number;
};

/**
 * Counts how much of their rate limits applications and addresses have used (docs/contract.md, "Operations routes").
 * Unlike `Budgets`, these counters may be lost: a restart or a lost store begins new windows. A store that several
 * processes share counts the requests of all of them.
 */
export interface RateLimits {
  /**
   * Adds `weight` to the use of `subject`. A weight of 0 only reads. A negative weight gives back the use of a rejected
   * request.
   */
  use(limit: Limit, subject: string, weight: number): Maybe<Used>;
}
