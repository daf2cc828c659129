import type { Maybe } from './maybe.js';

export type LimitName = 'requests' | 'auth_failures' | 'keyless_requests';

/** A limit of at most `max` uses per window. A window begins with the first use after the previous window has ended. */
export type Limit = { readonly name: LimitName; readonly max: number; readonly windowMs: number };

export type Used = {
  /** The total use in the current window, including this use. */
  readonly used: number;
  /** The number of milliseconds until the current window ends, or 0 if no window has begun. */
  readonly endsInMs: number;
};

/**
 * Counts how much of its rate limits each application and each address has used (docs/contract.md, "Operations
 * routes"). Unlike the counters in `Budgets`, these counters may be lost. After a restart or the loss of the store, new
 * windows begin. If several processes share the store, the counters include the requests of all processes.
 */
export interface RateLimits {
  /**
   * Adds `weight` to the use of `subject`. A weight of 0 only reads the counter. A negative weight takes back the use
   * that a rejected request had added.
   */
  use(limit: Limit, subject: string, weight: number): Maybe<Used>;
}
