import type { Commit } from '../events/commit.js';
import type { NewEvent } from '../events/event.js';
import type { DirectoryRecord } from '../views/directory-view.js';
import type { FinishedClaim } from '../views/finished-claim.js';
import type { Stored } from '../views/row-mac.js';
import type { TokenView } from '../views/token-view.js';

/** The terms that search finds a row by, for each generation of rows: 16 bytes each, in hex, without repeats. */
export type GenerationTerms = Readonly<Record<number, readonly string[]>>;

/**
 * What a row is found by; all of it is keyed hashes. `keep` leaves the index unchanged. A removed row is found by
 * nothing.
 */
export type RowIndex = 'keep' | { readonly fingerprintHash: string; readonly terms: GenerationTerms };

/** The events of one stream, with the row or rows that they lead to. */
export type StreamWrite = {
  readonly stream: string;
  /** -1 means that the stream must not exist yet. */
  readonly expectedRevision: number;
  readonly events: readonly NewEvent[];
  readonly row:
    | { readonly of: 'token'; readonly view: Stored<TokenView>; readonly index: RowIndex }
    | { readonly of: 'directory'; readonly records: readonly Stored<DirectoryRecord>[] }
    | null;
  /** Rejects the write if another living token of the tenant has this keyed fingerprint at `now` (deduplication). */
  readonly distinct: { readonly tenantId: string; readonly fingerprintHash: string; readonly now: number } | null;
};

/** A token's stream, and the revision of the newest event that was read. */
export type SeenStream = { readonly tenantId: string; readonly stream: string; readonly revision: number };

/** Returns whether a write creates a living token of the tenant with this keyed fingerprint. */
export function makesToken({ row }: Pick<StreamWrite, 'row'>, tenantId: string, fingerprintHash: string): boolean {
  if (row?.of !== 'token' || row.index === 'keep' || row.view.state.life === null) return false;
  return row.view.tenantId === tenantId && row.index.fingerprintHash === fingerprintHash;
}

/** A write and a change with the proof of their events, for a store that writes events and rows in one transaction. */
export type StoredWrite = Omit<StreamWrite, 'events'> & { readonly commit: Commit };
export type StoredChange = Omit<Change, 'writes'> & { readonly writes: readonly StoredWrite[] };
export type StoredWork = {
  commit(change: StoredChange): Promise<CommitOutcome>;
  readonly follow: UnitOfWork['follow'];
};

export type Change = {
  readonly writes: readonly StreamWrite[];
  /** Recorded together with the writes, so that a repeat of the request finds what the first request did. */
  readonly claim: Stored<FinishedClaim> | null;
};

export type CommitOutcome =
  | { readonly outcome: 'committed' }
  /**
   * `landed` contains the indexes of writes that were stored despite the conflict. There are none where the store has
   * transactions over streams. Without such transactions, a change that creates nothing can have some, because it can
   * be decided again for the rest. An index without the terms of a generation that is now written is a conflict, too.
   */
  | { readonly outcome: 'conflict'; readonly landed?: readonly number[] }
  | { readonly outcome: 'duplicate'; readonly write: number; readonly stream: string }
  | { readonly outcome: 'claimed' };

/**
 * Stores what one command changes: events at their expected revisions, the rows that they lead to, and the idempotency
 * claim. It stores all or nothing, and the change is durable when it resolves. SQLite uses one transaction for many
 * commands (group commit). Throws StoreUnavailable if the store fails. Then nothing of the change is stored; where log
 * and rows are separate stores, the outcome is unknown, and a repeat with the same claim tells.
 */
export interface UnitOfWork {
  commit(change: Change): Promise<CommitOutcome>;
  /**
   * Makes the rows of these tokens at least as new as the streams that the caller has read. Call it before you respond
   * or destroy anything because of those events: the process that appended them may have died before it wrote the rows.
   * Does nothing where one transaction writes both.
   */
  follow(streams: readonly SeenStream[]): Promise<void>;
}
