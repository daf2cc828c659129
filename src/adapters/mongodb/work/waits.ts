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
  /** When an unfinished batch that no command meets reaches this age, the leader settles it. */
  readonly batchMs: number;
  /**
   * How long a command waits for the owner of a fingerprint claim or of an unfinished batch that it meets. After that,
   * the command settles the owner's append, or the batch.
   */
  readonly ownerMs: number;
  /** When a fingerprint claim reaches this age, the leader settles its append and removes the claim. */
  readonly fingerprintMs: number;
};

export const usualWaits: Waits = { claimMs: 30_000, batchMs: 60_000, ownerMs: 1_000, fingerprintMs: 600_000 };
