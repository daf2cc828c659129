import type { GuessBudget, Reservation, ReservationRequest } from '../domain/guess-budget.js';

/**
 * The budget for looking up values, and the budget for deduplications that find nothing (docs/contract.md,
 * "Guesses").
 */
export type BudgetName = 'guesses' | 'deduplication_misses';

export type Suspect = {
  readonly applicationId: string;
  /** The time at which the application became suspect, in milliseconds since the epoch. */
  readonly at: number;
};

/**
 * Counts the guesses that each application has used. The counters are durable and shared by all processes. Unlike
 * rate-limit counters, they survive restarts and crashes.
 */
export interface Budgets {
  /**
   * Reserves a block of guesses with `reserveGuesses`. The reservation is durable once the promise resolves. If the
   * method throws StoreUnavailable, it is unknown whether the block was reserved.
   */
  reserve(
    name: BudgetName,
    applicationId: string,
    budget: GuessBudget,
    request: ReservationRequest,
  ): Promise<Reservation>;
  /** Returns the applications that became suspect at `since` (ms) or later, most recent first. */
  suspects(since: number): Promise<readonly Suspect[]>;
}
