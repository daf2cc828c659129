import type { AccessBatch, AccessEntry } from '../events/access-log/access-entry.js';

/** What a query asks for; null: anything. All that is given must hold. */
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

/**
 * Who read and did what (docs/design.md, "Access log"). Records are appended in batches; those of one writer are a
 * chain by their hashes.
 */
export interface AccessLog {
  /** Appends the entries. Durable when it resolves. Rejects with StoreUnavailable when the log cannot be written. */
  record(entries: readonly AccessEntry[]): Promise<void>;
  /** A tenant's entries, the newest first, of those one page, with the exact total. Sees every resolved `record`. */
  query(
    tenantId: string,
    filter: AccessFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<AccessPage>;
  /** The chains of batches: one for each writer of which batches are left, the oldest first. */
  chains(): Promise<readonly string[]>;
  /** Batches of a chain after a sequence (0: from the first that is left), in order, at most `limit`. */
  batches(chain: string, afterSequence: number, limit: number): Promise<readonly AccessBatch[]>;
  /** The newest batch of each chain that got one in the month of `since` (ms) or later. */
  heads(since: number): Promise<readonly AccessHead[]>;
  /** Drops every whole month (UTC) that ended at `before` (ms) or earlier; answers how many. */
  dropMonths(before: number): Promise<number>;
}
