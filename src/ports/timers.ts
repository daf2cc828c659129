import type { DueRow } from './token-rows.js';

/**
 * Signals soon after a row becomes due. Correctness does not depend on timers: reads already hide due rows, and the
 * sweep finds rows that no timer reported. `set` and `clear` therefore neither wait nor throw.
 */
export interface Timers {
  set(row: DueRow): void;
  /** Clears a timer, because the token is gone or its due time has changed. */
  clear(row: DueRow): void;
  /** Returns how many of these timers are set, as visible to other processes. Throws StoreUnavailable. */
  pending(rows: readonly DueRow[]): Promise<number>;
}
