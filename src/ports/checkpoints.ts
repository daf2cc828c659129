/** Proof that a process leads a projection. A new leader gets a higher epoch. */
export type Lead = { readonly name: string; readonly epoch: number };

/**
 * Stores how far each projection has read the log. Only the projection's current leader can write its position: a write
 * under an older epoch fails. Leases use the store's own clock.
 */
export interface Checkpoints {
  /** Acquires or renews the lease for the next `leaseMs`. Returns null if another process leads. */
  lead(name: string, holder: string, leaseMs: number): Promise<Lead | null>;
  /** Gives up the lease, so that another process need not wait for it to expire. */
  resign(lead: Lead): Promise<void>;
  /** Returns the stored position, or 0 if there is none. */
  position(name: string): Promise<number>;
  /** Stores the position. Returns false and writes nothing if another process leads by now. */
  save(lead: Lead, position: number): Promise<boolean>;
}
