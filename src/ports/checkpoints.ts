/** Proof that a process leads a projection. A new leader gets a higher epoch. */
export type Lead = { readonly name: string; readonly epoch: number };

/**
 * Stores how far each projection has read the log. Only the current leader of a projection can write that projection's
 * position, because a write with an older epoch fails. Leases are measured by the store's clock, not by a process's
 * clock.
 */
export interface Checkpoints {
  /** Acquires or renews the lease for the next `leaseMs`. Returns null if a different process leads. */
  lead(name: string, holder: string, leaseMs: number): Promise<Lead | null>;
  /** Returns true if a process holds the lease, which was acquired or renewed for `leaseMs`. */
  isLed(name: string, leaseMs: number): Promise<boolean>;
  /** Gives up the lease, so that another process does not have to wait until the lease expires. */
  resign(lead: Lead): Promise<void>;
  /** Returns the stored position, or 0 if no position is stored. */
  position(name: string): Promise<number>;
  /** Stores the position. Returns false and writes nothing if a different process has become the leader. */
  save(lead: Lead, position: number): Promise<boolean>;
}
