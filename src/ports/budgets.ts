import type { GuessBudget, Reservation, ReservationRequest } from '../domain/guess-budget.js';

/** What is counted: look-ups of values, and deduplications that meet nothing (docs/contract.md, "Operations routes"). */
export type BudgetName = 'guesses' | 'deduplication_misses';

export type Suspect = {
  readonly applicationId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
};

/**
 * What applications have used of their guesses, durable and shared by all processes. Unlike rate limits, these counters
 * never forget: not at a restart, not at a crash.
 */
export interface Budgets {
  /** Takes a block by `reserveGuesses`, durable when it resolves. Throws StoreUnavailable: some may be taken then. */
  reserve(
    name: BudgetName,
    applicationId: string,
    budget: GuessBudget,
    request: ReservationRequest,
  ): Promise<Reservation>;
  /** The applications that became suspect at `since` (ms) or later, the latest first. */
  suspects(since: number): Promise<readonly Suspect[]>;
}
