/**
 * The hash of the chain after a commit (`events/commit.ts`), and the number of commits up to and including that commit.
 */
export type ChainLink = {
  /** The position of the commit's last event. */
  readonly position: number;
  /** The number of commits up to and including this commit. The numbers start at 1 and have no gaps. */
  readonly count: number;
  /** The chain's hash after this commit (32 bytes). */
  readonly hash: Uint8Array;
};

/**
 * The links of the hash chain over all commits in log order, as they were stored with the events. All methods throw
 * StoreUnavailable if the store fails.
 */
export interface EventChain {
  /**
   * Returns the newest link. If `upTo` is set, considers only links whose position is at most `upTo`. Returns null if
   * no link is found.
   */
  head(upTo?: number): Promise<ChainLink | null>;
  /** Returns at most `limit` links after a position, in order. Pass 0 to begin with the first link. */
  after(position: number, limit: number): Promise<readonly ChainLink[]>;
  /**
   * Creates the links that are missing for stored commits. Does nothing if links are stored together with the events.
   */
  follow(): Promise<void>;
}
