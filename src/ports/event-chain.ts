/** The hash of the chain after a commit (`events/commit.ts`), and how many commits it is over. */
export type ChainLink = {
  /** The position of the last event of the commit. */
  readonly position: number;
  /** From 1, without gaps. */
  readonly count: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
};

/**
 * The links of the hash chain over all commits in log order, as they were stored when the events were. Throws
 * StoreUnavailable.
 */
export interface EventChain {
  /** The newest link, or the newest up to a position; null: none yet. */
  head(upTo?: number): Promise<ChainLink | null>;
  /** Links with a position after this one (0: from the first), in order, at most `limit`. */
  after(position: number, limit: number): Promise<readonly ChainLink[]>;
  /** Makes the links of commits that have none yet; does nothing where links are stored with their events. */
  follow(): Promise<void>;
}
