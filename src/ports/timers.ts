import type { DueRow } from './token-rows.js';

/**
 * Signals soon after a row becomes due. Timers are never the guarantee: reads hide what is due by themselves, and the
 * sweep finds what no timer reported. So `set` and `clear` neither wait nor throw.
 */
export interface Timers {
  set(row: DueRow): void;
  /** Clears a timer: the token has ended, or has another time now. */
  clear(row: DueRow): void;
  /** Returns how many of these timers are set, as far as other processes can see. Throws StoreUnavailable. */
  pending(rows: readonly DueRow[]): Promise<number>;
}
