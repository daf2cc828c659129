/**
 * How long a process waits for another process before it considers that process dead, in ms. If the other process is
 * still alive, nothing is lost or repeated.
 */
export type Waits = {
  /**
   * The age at which another process takes over an open claim. By then the claim's owner has given up, or the owner's
   * append will be barred.
   */
  readonly claimMs: number;
  /** The age at which another process undoes an unfinished batch. */
  readonly batchMs: number;
  /** How long to wait for the append by the owner of a fingerprint before barring that append. */
  readonly ownerMs: number;
};

export const usualWaits: Waits = { claimMs: 30_000, batchMs: 60_000, ownerMs: 1_000 };
