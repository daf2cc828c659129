import type { DueRow } from './token-rows.js';

/**
 * Sends a signal soon after a row becomes due. Correctness does not depend on timers, because reads already hide due
 * rows, and the sweep finds rows that no timer reported. `set` and `clear` therefore return immediately and never
 * throw.
 */
export interface Timers {
  set(row: DueRow): void;
  /** Clears a timer. Call this if the token is gone or its due time has changed. */
  clear(row: DueRow): void;
  /**
   * Returns how many of these rows have a timer that other processes can see. Throws StoreUnavailable if the timers
   * cannot be read.
   */
  pending(rows: readonly DueRow[]): Promise<number>;
}
