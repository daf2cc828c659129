/** Wakes the sweep when something is due. Never the guarantee: reads hide what is due by themselves. */
export interface Timers {
  /** Something is due at `dueAt` (ms since the epoch). */
  dueAt(dueAt: number): void;
}
