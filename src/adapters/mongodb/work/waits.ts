/** How long others are waited for before they are taken for dead, ms. Nothing is lost or doubled when they are not. */
export type Waits = {
  /** An open claim of this age is taken over: its owner has given up long ago, or its append will be barred. */
  readonly claimMs: number;
  /** What nobody finished of a batch in this time is undone by whoever comes by. */
  readonly batchMs: number;
  /** How long the append of who claimed a fingerprint is waited for before it is barred. */
  readonly ownerMs: number;
};

export const usualWaits: Waits = { claimMs: 30_000, batchMs: 60_000, ownerMs: 1_000 };
