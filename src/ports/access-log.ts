import type { AccessBatch, AccessEntry } from '../events/access-log/access-entry.js';

/** The filter of a query. An entry must match every field; null matches anything. */
export type AccessFilter = {
  readonly entityType: string | null;
  readonly entityRef: string | null;
  readonly operation: string | null;
  /** Matches entries at or after this time (ms). */
  readonly from: number;
  /** Matches entries before this time (ms). */
  readonly to: number | null;
};

export type AccessPage = { readonly total: number; readonly entries: readonly AccessEntry[] };

/** The newest batch of a chain. */
export type AccessHead = { readonly chain: string; readonly sequence: number; readonly hash: Uint8Array };

/**
 * The number of a tenant's entries about tokens on one day, by operation and outcome. Days are counted from 1970-01-01
 * (UTC).
 */
export type AccessCount = {
  readonly tenantId: string;
  readonly day: number;
  readonly operation: string;
  readonly outcome: string;
  readonly count: number;
};

/**
 * The record of which caller read or did what (docs/design.md, "Access log"). Entries are appended in batches, and the
 * hashes of one writer's batches form a chain.
 */
export interface AccessLog {
  /**
   * Appends the entries, which are durable when the promise resolves. Throws StoreUnavailable if the log cannot be
   * written.
   */
  record(entries: readonly AccessEntry[]): Promise<void>;
  /**
   * Returns one page of a tenant's entries, newest first, with the exact total. Includes the entries of every `record`
   * call that has resolved.
   */
  query(
    tenantId: string,
    filter: AccessFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<AccessPage>;
  /** Returns the chains, oldest first: one for each writer that still has batches. */
  chains(): Promise<readonly string[]>;
  /**
   * Returns at most `limit` batches of a chain after a sequence number (0 to start at the first remaining batch), in
   * order.
   */
  batches(chain: string, afterSequence: number, limit: number): Promise<readonly AccessBatch[]>;
  /**
   * Counts the entries about tokens in a chain's batches after a sequence number. May stop at any batch up to `upTo`,
   * and returns that batch's sequence number as `last`.
   */
  counts(
    chain: string,
    afterSequence: number,
    upTo: number,
  ): Promise<{ readonly last: number; readonly counts: readonly AccessCount[] }>;
  /** Returns the newest batch of each chain that received a batch in the month of `since` (ms) or later. */
  heads(since: number): Promise<readonly AccessHead[]>;
  /** Drops every whole month (UTC) that ended at `before` (ms) or earlier, and returns the number of months. */
  dropMonths(before: number): Promise<number>;
}
