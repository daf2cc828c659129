/** The hash of the chain after a commit (`events/commit.ts`), with the number of commits that it covers. */
export type ChainLink = {
  /** The position of the last event of the commit. */
  readonly position: number;
  /** Counts from 1, without gaps. */
  readonly count: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
};

/**
 * The links of the hash chain over all commits in log order, as they were stored with the events. Throws
 * StoreUnavailable.
 */
export interface EventChain {
  /** Returns the newest link, or the newest link up to a position. Returns null if there is none yet. */
  head(upTo?: number): Promise<ChainLink | null>;
  /** Returns at most `limit` links after this position (0 to start at the first), in order. */
  after(position: number, limit: number): Promise<readonly ChainLink[]>;
  /** Creates missing links for commits. Does nothing if links are stored together with the events. */
  follow(): Promise<void>;
}
