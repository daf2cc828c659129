import type { Commit } from '../events/commit.js';
import type { NewEvent } from '../events/event.js';
import type { DirectoryRecord } from '../views/directory-view.js';
import type { FinishedClaim } from '../views/finished-claim.js';
import type { Stored } from '../views/row-mac.js';
import type { TokenView } from '../views/token-view.js';

/** What search finds a row by, in each generation of rows: 16 bytes a term in hex, none twice. */
export type GenerationTerms = Readonly<Record<number, readonly string[]>>;

/** What a row is found by, keyed hashes all; `keep` leaves it as it is. A removed row is found by nothing. */
export type RowIndex = 'keep' | { readonly fingerprintHash: string; readonly terms: GenerationTerms };

/** What one stream gets, with the row or rows that its events lead to. */
export type StreamWrite = {
  readonly stream: string;
  /** -1: the stream must not exist yet. */
  readonly expectedRevision: number;
  readonly events: readonly NewEvent[];
  readonly row:
    | { readonly of: 'token'; readonly view: Stored<TokenView>; readonly index: RowIndex }
    | { readonly of: 'directory'; readonly records: readonly Stored<DirectoryRecord>[] }
    | null;
  /** Refuse when another living token of the tenant has this keyed fingerprint at `now` (deduplication). */
  readonly distinct: { readonly tenantId: string; readonly fingerprintHash: string; readonly now: number } | null;
};

/** A token's stream, and the revision of the newest event that was read. */
export type SeenStream = { readonly tenantId: string; readonly stream: string; readonly revision: number };

/** Whether a write makes a living token of the tenant with this keyed fingerprint. */
export function makesToken({ row }: Pick<StreamWrite, 'row'>, tenantId: string, fingerprintHash: string): boolean {
  if (row?.of !== 'token' || row.index === 'keep' || row.view.state.life === null) return false;
  return row.view.tenantId === tenantId && row.index.fingerprintHash === fingerprintHash;
}

/** A write and a change with the proof of its events, as a store takes them that writes events and rows in one transaction. */
export type StoredWrite = Omit<StreamWrite, 'events'> & { readonly commit: Commit };
export type StoredChange = Omit<Change, 'writes'> & { readonly writes: readonly StoredWrite[] };
export type StoredWork = {
  commit(change: StoredChange): Promise<CommitOutcome>;
  readonly follow: UnitOfWork['follow'];
};

export type Change = {
  readonly writes: readonly StreamWrite[];
  /** Recorded together with the writes, so that a repeat finds what the first did. */
  readonly claim: Stored<FinishedClaim> | null;
};

export type CommitOutcome =
  | { readonly outcome: 'committed' }
  /**
   * `landed`: writes that are stored all the same, by their index. None where the store has transactions over streams;
   * without them, of a change that creates nothing, for that can be decided again over what is left. A conflict is also
   * an index without the terms of a generation that is written by now.
   */
  | { readonly outcome: 'conflict'; readonly landed?: readonly number[] }
  | { readonly outcome: 'duplicate'; readonly write: number; readonly stream: string }
  | { readonly outcome: 'claimed' };

/**
 * Stores what one command changes: events at their expected revisions, the rows they lead to, the idempotency claim;
 * all or nothing, durable when it resolves. SQLite: one transaction, shared by many commands (group commit).
 * Throws StoreUnavailable when the store could not do it; then nothing of the change is stored, or, where log and rows are
 * stores of their own, it is unknown and a repeat with the same claim tells.
 */
export interface UnitOfWork {
  commit(change: Change): Promise<CommitOutcome>;
  /**
   * Makes sure that the rows of these tokens are no older than the streams were seen, before something is answered or
   * destroyed because of what their events say. Their writer may have died on the way from one to the other; where both
   * are written by one transaction there is nothing to do.
   */
  follow(streams: readonly SeenStream[]): Promise<void>;
}
