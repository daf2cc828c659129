import type { AccessBatch, AccessEntry, NewAccessEntry } from '../events/access-log/access-entry.js';
import type { FoundProblem } from './store-problem.js';

/** The filter for a query. An entry must match every field. A null field matches anything. */
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

/** The newest batch in a chain. */
export type AccessHead = { readonly chain: string; readonly sequence: number; readonly hash: Uint8Array };

/**
 * The number of entries about a tenant's tokens on one day, for one operation and one outcome. Days are counted from
 * 1970-01-01 (UTC).
 */
export type AccessCount = {
  readonly tenantId: string;
  readonly day: number;
  readonly operation: string;
  readonly outcome: string;
  readonly count: number;
};

/**
 * The record of all reads, changes and denials, each with the caller that made the request (docs/design.md, "Access
 * log"). Entries are appended in batches, and the hashes of one writer's batches form a chain.
 */
export interface AccessLog {
  /**
   * Encrypts the traces of the entries and appends the entries. They are durable once the promise resolves. Throws
   * StoreUnavailable if the log cannot be written. If `when` is `last`, the process ends after this call, so no retry
   * follows. The embedded profile then stores the entries for the next start even if a month's file cannot be used.
   */
  record(entries: readonly NewAccessEntry[], when?: 'last'): Promise<void>;
  /**
   * Returns one page of a tenant's entries, newest first, with the exact total. The result includes the entries from
   * every `record` call that has resolved.
   */
  query(
    tenantId: string,
    filter: AccessFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<AccessPage>;
  /** Returns the chains, oldest first. There is one chain for each writer that still has at least one batch. */
  chains(): Promise<readonly string[]>;
  /**
   * Returns at most `limit` batches of a chain, in order, beginning after a sequence number. Pass 0 to begin with the
   * first remaining batch.
   */
  batches(chain: string, afterSequence: number, limit: number): Promise<readonly AccessBatch[]>;
  /**
   * Counts the entries about tokens in the batches of a chain, beginning after a sequence number. The method may stop
   * at any batch up to `upTo`. `last` is the sequence number of the last batch that was counted.
   */
  counts(
    chain: string,
    afterSequence: number,
    upTo: number,
  ): Promise<{ readonly last: number; readonly counts: readonly AccessCount[] }>;
  /** Returns the newest batch of each chain that received a batch in the month of `since` (ms) or later. */
  heads(since: number): Promise<readonly AccessHead[]>;
  /**
   * Returns a problem if batches that were stored are missing, for example because a file was removed, or if a file is
   * a copy of another one. `isWhole` is true if the vault is so young that no month can have been dropped. Otherwise,
   * the log need not contain the first batch. Reads little, so it does not find every missing batch. Returns null if no
   * batch is known to be missing. `missing` itself is null if the store offers no such check.
   */
  readonly missing: ((isWhole: boolean) => Promise<FoundProblem | null>) | null;
  /**
   * Drops the entries of every calendar month (UTC) that ended at `before` (ms) or earlier. Returns the number of
   * dropped months. The embedded profile keeps a month if the clock was set back to it after entries of a later month,
   * up to the month of `now` (ms), were recorded. It then drops the month together with these later months.
   */
  dropMonths(before: number, now: number): Promise<number>;
}
