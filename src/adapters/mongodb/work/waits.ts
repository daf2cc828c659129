/**
 * How long a process waits for others before it considers them dead, in ms. If one of them is in fact still alive,
 * nothing is lost or repeated.
 */
export type Waits = {
  /**
   * The age at which another process takes over an open claim. Its owner has given up by then, or the owner's append
   * will be barred.
   */
  readonly claimMs: number;
  /** The age at which another process undoes an unfinished batch. */
  readonly batchMs: number;
  /** How long to wait for the append by a fingerprint's owner before barring it. */
  readonly ownerMs: number;
};

export const usualWaits: Waits = { claimMs: 30_000, batchMs: 60_000, ownerMs: 1_000 };
