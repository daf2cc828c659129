export type LimitName = 'requests' | 'auth_failures' | 'keyless_requests';

/** So many a window; a window begins with the first use after the one before has ended. */
export type Limit = { readonly name: LimitName; readonly max: number; readonly windowMs: number };

export type Used = {
  /** Everything counted in the present window, this use included. */
  readonly used: number;
  /** When the present window ends, ms from now; 0 when none has begun. */
  readonly endsInMs: number;
};

/**
 * Counters of what applications and addresses have used of their limits (docs/contract.md, "Operations routes"). They may forget, unlike
 * `Budgets`: a restart or a lost store begins new windows. A store that is shared between processes counts for all of
 * them.
 */
export interface RateLimits {
  /** Adds `weight` to what `subject` has used. 0 only looks; a negative one gives back what was refused. */
  use(limit: Limit, subject: string, weight: number): Promise<Used>;
}
