import type { Maybe } from './maybe.js';

export type LimitName = 'requests' | 'auth_failures' | 'keyless_requests';

/** At most `max` uses per window. A window begins with the first use after the previous window has ended. */
export type Limit = { readonly name: LimitName; readonly max: number; readonly windowMs: number };

export type Used = {
  /** Everything that is counted in the current window, including this use. */
  readonly used: number;
  /** When the current window ends, ms from now; 0 if none has begun. */
  readonly endsInMs: number;
};

/**
 * Counters of how much of their limits applications and addresses have used (docs/contract.md, "Operations routes").
 * Unlike `Budgets`, they may be lost: a restart or a lost store begins new windows. A store that processes share counts
 * for all of them.
 */
export interface RateLimits {
  /** Adds `weight` to the use of `subject`. 0 only reads; a negative weight gives back a use that was rejected. */
  use(limit: Limit, subject: string, weight: number): Maybe<Used>;
}
