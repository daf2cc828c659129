/**
 * How long a process waits for others before it considers them dead, in ms. If one of them is still alive, nothing is
 * lost or repeated.
 */
export type Waits = {
  /** The age at which an open claim is taken over. Its owner has given up by then, or its append will be barred. */
  readonly claimMs: number;
  /** The age at which an unfinished batch is undone by another process. */
  readonly batchMs: number;
  /** How long to wait for the append of a fingerprint's owner before barring it. */
  readonly ownerMs: number;
};

export const usualWaits: Waits = { claimMs: 30_000, batchMs: 60_000, ownerMs: 1_000 };
