import type { Commit } from '../events/commit.js';
import type { NewEvent } from '../events/event.js';
import type { DirectoryRecord } from '../views/directory-view.js';
import type { FinishedClaim } from '../views/finished-claim.js';
import type { Stored } from '../views/row-mac.js';
import type { TokenView } from '../views/token-view.js';

/** The search terms of a row, keyed by row generation. Each term is 16 bytes in hex, and no term occurs twice. */
export type GenerationTerms = Readonly<Record<number, readonly string[]>>;

/**
 * The keyed hashes that searches use to find a row. `keep` leaves the index unchanged. No search finds a removed row.
 */
export type RowIndex = 'keep' | { readonly fingerprintHash: string; readonly terms: GenerationTerms };

/** New events for one stream, and the resulting row or rows. */
export type StreamWrite = {
  readonly stream: string;
  /** The expected revision of the newest event in the stream. -1 means that the stream must not exist yet. */
  readonly expectedRevision: number;
  readonly events: readonly NewEvent[];
  readonly row:
    | { readonly of: 'token'; readonly view: Stored<TokenView>; readonly index: RowIndex }
    | { readonly of: 'directory'; readonly records: readonly Stored<DirectoryRecord>[] }
    | null;
  /**
   * Used for deduplication. If this field is set, the write is rejected when a different token of the tenant is live at
   * `now` and has this keyed fingerprint. `others` lists streams of tokens that may have it, because their values
   * differ.
   */
  readonly distinct: {
    readonly tenantId: string;
    readonly fingerprintHash: string;
    readonly now: number;
    readonly others: readonly string[];
  } | null;
};

/** A token's stream, and the revision of the newest event that the caller has read from it. */
export type SeenStream = { readonly tenantId: string; readonly stream: string; readonly revision: number };

/** Returns the first write that results in a token which violates `distinct`, or undefined. */
export function violating<Write extends Pick<StreamWrite, 'stream' | 'row'>>(
  writes: readonly Write[],
  { tenantId, fingerprintHash, others }: NonNullable<StreamWrite['distinct']>,
): Write | undefined {
  return writes.find((write) => makesToken(write, tenantId, fingerprintHash) && !others.includes(write.stream));
}

/** Returns true if a write results in a live token of the tenant with this keyed fingerprint. */
function makesToken({ row }: Pick<StreamWrite, 'row'>, tenantId: string, fingerprintHash: string): boolean {
  if (row?.of !== 'token' || row.index === 'keep' || row.view.state.life === null) return false;
  return row.view.tenantId === tenantId && row.index.fingerprintHash === fingerprintHash;
}

/**
 * A write with the proofs of its events (`Commit`). A store that writes events and rows in one transaction accepts
 * changes in this form.
 */
export type StoredWrite = Omit<StreamWrite, 'events'> & { readonly commit: Commit };
export type StoredChange = Omit<Change, 'writes' | 'onStored'> & { readonly writes: readonly StoredWrite[] };
export type StoredWork = {
  commit(change: StoredChange): Promise<CommitOutcome>;
  readonly follow: UnitOfWork['follow'];
  readonly isOneTransaction: UnitOfWork['isOneTransaction'];
};

export type Change = {
  readonly writes: readonly StreamWrite[];
  /**
   * The claim to record together with the writes. It lets a retry of the request find the result of the first attempt.
   */
  readonly claim: Stored<FinishedClaim> | null;
  /**
   * Called with each write as soon as it is certain that its events stay in the log, even if the commit fails later. A
   * store that writes events and rows in one transaction does not call this function, because the outcome is enough.
   */
  readonly onStored?: (write: StreamWrite) => void;
};

export type CommitOutcome =
  | { readonly outcome: 'committed' }
  /**
   * `landed` contains the indexes of the writes that were stored despite the conflict. If the store's transactions span
   * several streams, `landed` is empty or absent. In other stores, a change that creates nothing can be stored in part,
   * and the command can decide again for the remaining streams. A conflict also occurs if a write's index lacks the
   * terms of a generation in use.
   */
  | { readonly outcome: 'conflict'; readonly landed?: readonly number[] }
  | { readonly outcome: 'duplicate'; readonly write: number; readonly stream: string }
  | { readonly outcome: 'claimed' };

/**
 * Stores everything that one command changes: events at their expected revisions, the resulting rows, and the
 * idempotency claim. The change is atomic, and it is durable once the promise resolves. SQLite uses one transaction for
 * many commands (group commit). Throws StoreUnavailable if the store fails. If the log and the rows share one store,
 * nothing has been stored in that case. If they are in separate stores, it is unknown whether the change was stored. A
 * retry with the same claim determines whether it was.
 */
export interface UnitOfWork {
  commit(change: Change): Promise<CommitOutcome>;
  /**
   * Brings the rows of these tokens up to at least the revisions that the caller has read. Call this before you send a
   * response or destroy anything based on the events that were read. Otherwise, rows could be missing, because the
   * process that appended the events might have terminated before it wrote the rows. The method does nothing if one
   * transaction writes both events and rows.
   *
   * If a change that creates several tokens has stored only some of them, first settles that change, which may remove
   * these tokens. Returns the streams whose rows are newer than what the caller has read.
   */
  follow(streams: readonly SeenStream[]): Promise<ReadonlySet<string>>;
  /**
   * True if one transaction stores all writes of a change. One change with many writes then costs less than many
   * changes with one write each.
   */
  readonly isOneTransaction: boolean;
}
