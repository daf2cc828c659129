/** How far a projection has come in the log, and which process leads it. */
export type Lead = { readonly name: string; readonly epoch: number };

/**
 * Positions of projections, each written by one leader at a time: a process that last wrote under an older epoch can no
 * longer write. Uses the store's own clock.
 */
export interface Checkpoints {
  /** Becomes or stays the leader for the next `leaseMs`. Null if another process leads. */
  lead(name: string, holder: string, leaseMs: number): Promise<Lead | null>;
  /** Gives up the lead, so that another process need not wait for the end of the lease. */
  resign(lead: Lead): Promise<void>;
  /** 0 first. */
  position(name: string): Promise<number>;
  /** False if another process leads by now; then nothing was written. */
  save(lead: Lead, position: number): Promise<boolean>;
}
