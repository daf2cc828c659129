/** The hash of the chain after a commit (`events/commit.ts`), and the number of commits that it covers. */
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
  /** The newest link, or the newest up to a position; null if there is none yet. */
  head(upTo?: number): Promise<ChainLink | null>;
  /** At most `limit` links with a position after this one (0: from the first), in order. */
  after(position: number, limit: number): Promise<readonly ChainLink[]>;
  /** Creates the links of commits that have none yet. Does nothing where links are stored with their events. */
  follow(): Promise<void>;
}
