import type { GuessBudget, Reservation, ReservationRequest } from '../domain/guess-budget.js';

/**
 * What is counted: look-ups of values, and deduplications that find nothing (docs/contract.md, "Operations routes").
 */
export type BudgetName = 'guesses' | 'deduplication_misses';

export type Suspect = {
  readonly applicationId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
};

/**
 * How many of their guesses applications have used. The counters are durable and shared by all processes. Unlike rate
 * limits, they survive a restart and a crash.
 */
export interface Budgets {
  /**
   * Reserves a block with `reserveGuesses`; it is durable when this resolves. If it throws StoreUnavailable, a block
   * may be reserved.
   */
  reserve(
    name: BudgetName,
    applicationId: string,
    budget: GuessBudget,
    request: ReservationRequest,
  ): Promise<Reservation>;
  /** Returns the applications that became suspect at `since` (ms) or later, the most recent first. */
  suspects(since: number): Promise<readonly Suspect[]>;
}
