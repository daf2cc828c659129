import type { DueRow } from './token-rows.js';

/**
 * Sees to it that what becomes due is recorded soon after. Never the guarantee: reads hide what is due by themselves, and
 * the sweep finds what no timer told of. So `set` and `clear` neither wait nor throw.
 */
export interface Timers {
  set(row: DueRow): void;
  /** It is due no more: its token ended, or another time holds. */
  clear(row: DueRow): void;
  /** How many of these are set, where others may look at them. Throws StoreUnavailable. */
  pending(rows: readonly DueRow[]): Promise<number>;
}
