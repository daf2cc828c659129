import type { AccessBatch, AccessEntry } from '../events/access-log/access-entry.js';

/** The filter of a query. An entry must match all fields; null matches anything. */
export type AccessFilter = {
  readonly entityType: string | null;
  readonly entityRef: string | null;
  readonly operation: string | null;
  /** Entries at or after this moment (ms). */
  readonly from: number;
  /** Entries before this moment (ms). */
  readonly to: number | null;
};

export type AccessPage = { readonly total: number; readonly entries: readonly AccessEntry[] };

/** The newest batch of a chain. */
export type AccessHead = { readonly chain: string; readonly sequence: number; readonly hash: Uint8Array };

/** How many entries about tokens a tenant has on one day (counted from 1970-01-01 in UTC). */
export type AccessCount = {
  readonly tenantId: string;
  readonly day: number;
  readonly operation: string;
  readonly outcome: string;
  readonly count: number;
};

/**
 * The record of every access: which caller read or did what (docs/design.md, "Access log"). Entries are appended in
 * batches. The hashes of one writer's batches form a chain.
 */
export interface AccessLog {
  /** Appends the entries; they are durable when it resolves. Throws StoreUnavailable if the log cannot be written. */
  record(entries: readonly AccessEntry[]): Promise<void>;
  /**
   * Returns one page of a tenant's entries, newest first, with the exact total. Includes every `record` that has
   * resolved.
   */
  query(
    tenantId: string,
    filter: AccessFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<AccessPage>;
  /** Returns the chains of batches, oldest first: one for each writer that has batches left. */
  chains(): Promise<readonly string[]>;
  /** Returns at most `limit` batches of a chain after a sequence number (0: from the first that is left), in order. */
  batches(chain: string, afterSequence: number, limit: number): Promise<readonly AccessBatch[]>;
  /**
   * Counts the entries about tokens in the batches of a chain after one sequence. Stops at a batch of its choice, at
   * `upTo` at the latest, and returns that batch as `last`.
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
