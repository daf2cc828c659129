/**
 * The hash of the chain after a commit (`events/commit.ts`), and the number of commits up to and including that commit.
 */
export type ChainLink = {
  /** The position of the last event of the commit. */
  readonly position: number;
  /** Counts from 1, without gaps. */
  readonly count: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
};

/**
 * The links of the hash chain over all commits in log order, as they were stored with the events. All methods throw
 * StoreUnavailable.
 */
export interface EventChain {
  /** Returns the newest link, or the newest link whose position is at most `upTo`. Returns null if there is none. */
  head(upTo?: number): Promise<ChainLink | null>;
  /** Returns at most `limit` links after a position (0 to start at the first link), in order. */
  after(position: number, limit: number): Promise<readonly ChainLink[]>;
  /**
   * Creates the links that are missing for stored commits. Does nothing if links are stored together with the events.
   */
  follow(): Promise<void>;
}
