/** How far a projection has come in the log, and who leads it. */
export type Lead = { readonly name: string; readonly epoch: number };

/**
 * Positions of projections, each written by one leader at a time: who wrote last under an older epoch writes no more.
 * Time is the store's own.
 */
export interface Checkpoints {
  /** Becomes or stays the leader for the next `leaseMs`; null: another one leads. */
  lead(name: string, holder: string, leaseMs: number): Promise<Lead | null>;
  /** Gives the lead back, so that another need not wait for its end. */
  resign(lead: Lead): Promise<void>;
  /** 0 first. */
  position(name: string): Promise<number>;
  /** False: another one leads by now, and nothing was written. */
  save(lead: Lead, position: number): Promise<boolean>;
}
