/**
 * How long a process waits before it considers another process dead, in ms. Even if that process is still alive,
 * nothing is lost or repeated.
 */
export type Waits = {
  /**
   * When an open claim reaches this age, another process takes it over. By then, the claim's owner has given up, or
   * else its append will be barred.
   */
  readonly claimMs: number;
  /** When an unfinished batch reaches this age, another process undoes it. */
  readonly batchMs: number;
  /** How long to wait for the owner of a fingerprint claim to append. After this time, the owner's append is barred. */
  readonly ownerMs: number;
};

export const usualWaits: Waits = { claimMs: 30_000, batchMs: 60_000, ownerMs: 1_000 };
