import type { DueRow } from './token-rows.js';

/**
 * Sees to it that what becomes due is recorded soon after. Never the guarantee: reads hide what is due by themselves, and
 * the sweep finds what no timer told of. So it neither waits nor throws.
 */
export interface Timers {
  set(row: DueRow): void;
}
