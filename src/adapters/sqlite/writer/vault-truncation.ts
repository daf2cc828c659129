import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { SqliteDatabase } from '../database/open-database.js';
import type { Journal } from '../journal/journal.js';
import { truncating } from './erasure.js';

/** How long the bytes of a removed row can remain in the journal and in the write-ahead log of `vault.db`, in ms. */
const remainMsMax = 30_000;
/** How long to wait before the next attempt if a program or a full disk held up the last one, in ms. */
const retryMs = 1_000;

type TruncationDeps = {
  readonly vault: SqliteDatabase;
  readonly journal: Journal;
  readonly journalFile: SqliteDatabase;
  /**
   * Called with the file whose write-ahead log cannot be emptied because it is being read, and with null once no file
   * is.
   */
  readonly onHeldUp: (fileName: string | null) => void;
  /** Called if a file can no longer be written. */
  readonly onBroken: (error: unknown) => void;
};

/** Erases the bytes of removed rows from the write-ahead log of `vault.db` and from the journal. */
export function createVaultTruncation({ vault, journal, journalFile, onHeldUp, onBroken }: TruncationDeps) {
  let timer: NodeJS.Timeout | null = null;
  let heldUp: string | null = null;

  /**
   * First makes `vault.db` durable and empties its write-ahead log. Then removes all groups from the journal. Returns
   * false if a reader or a full disk currently prevents this.
   */
  function truncate(): boolean {
    const failed = truncating(vault, 'vault.db') ?? journal.clear() ?? truncating(journalFile, 'journal.db');
    const heldUpNow = failed instanceof StoreUnavailable && failed.reason === 'busy' ? failed.store : null;
    if (heldUpNow !== heldUp) onHeldUp(heldUpNow);
    heldUp = heldUpNow;
    return failed === null;
  }

  function truncateLater(): void {
    try {
      timer = truncate() ? null : setTimeout(truncateLater, retryMs);
    } catch (error) {
      onBroken(error);
    }
  }

  return {
    /** Erases the bytes within 30 seconds, or as soon as possible after that. */
    soon(): void {
      timer ??= setTimeout(truncateLater, remainMsMax);
    },
    /** Erases the bytes now. Returns false if this is currently not possible, and tries again later. */
    now(): boolean {
      const isTruncated = truncate();
      if (!isTruncated) timer ??= setTimeout(truncateLater, retryMs);
      return isTruncated;
    },
    /** Stops retrying. The files are not accessed again after this call. */
    stop(): void {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
