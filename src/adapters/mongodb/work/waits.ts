/**
 * How long a process waits before it considers another process dead, in ms. Even if that process is still alive,
 * nothing is lost or repeated.
 */
export type Waits = {
  /**
   * The age at which another process takes over an open claim. At this age, either the owner of the claim has given up,
   * or its append will be barred.
   */
  readonly claimMs: number;
  /** The age at which another process undoes an unfinished batch. */
  readonly batchMs: number;
  /** How long to wait for the owner of a fingerprint claim to append before its append is barred. */
  readonly ownerMs: number;
};

export const usualWaits: Waits = { claimMs: 30_000, batchMs: 60_000, ownerMs: 1_000 };
