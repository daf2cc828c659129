import { realpathSync } from 'node:fs';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { fsyncPathSync } from '../../shared/fsync-path-sync.js';
import { databaseError } from '../database/database-error.js';
import type { SqliteDatabase } from '../database/open-database.js';

const retryMs = 10;
const patienceMs = 2_000;
const backgroundRetryMs = 1_000;
const owedMax = 10_000;

type Waiting = { readonly deadline: number; done(erased: boolean): void };

/**
 * Erases destroyed keys from the write-ahead log of `keys.db`. A commit overwrites a destroyed key, but the log still
 * contains the old page. The key is erased only after a checkpoint has copied the log into the file and truncated the
 * log, and the truncation has reached the disk. If a reader is active, the checkpoint does not truncate the log, and
 * SQLite does not report an error. This code therefore checks the checkpoint's result row, and retries for two seconds.
 * One checkpoint can erase many destroyed keys. Calls `onBroken` if the file can no longer be written.
 */
export function createErasure(database: SqliteDatabase, onBroken: (error: unknown) => void) {
  /** The keys that have been overwritten in `keys.db` but may still be in its write-ahead log. */
  const inLog = new Set<string>();
  /**
   * The keys that were not erased in time. The command that destroyed them failed. A retry of that command counts these
   * keys as ended, provided that they have been erased by then.
   */
  const owed = new Set<string>();
  /**
   * False if a crash may have left destroyed keys in the write-ahead log. In that case, every erasure waits until this
   * log has been emptied.
   */
  let logIsKnown = emptyLog();
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | null = logIsKnown ? null : setTimeout(retry, backgroundRetryMs);

  /**
   * Empties the write-ahead log. SQLite does not sync the log after truncating it, so after a power failure, the log
   * could contain the keys again.
   */
  function emptyLog(): boolean {
    const isTruncated = truncating(database, 'keys.db') === null;
    return isTruncated && unavailability(database, 'keys.db-wal', () => syncLog(database)) === null;
  }

  function retry(): void {
    try {
      truncate();
    } catch (error) {
      onBroken(error);
    }
  }

  function truncate(): void {
    timer = null;
    if (emptyLog()) {
      logIsKnown = true;
      inLog.clear();
      for (const { done } of waiting.splice(0)) done(true);
      return;
    }
    const now = performance.now();
    const late = waiting.filter(({ deadline }) => deadline <= now);
    waiting = waiting.filter(({ deadline }) => deadline > now);
    for (const { done } of late) done(false);
    timer = setTimeout(retry, waiting.length > 0 ? retryMs : backgroundRetryMs);
  }

  /** Stops retrying. `keys.db` is not accessed again after this call. */
  function stop(): void {
    if (timer !== null) clearTimeout(timer);
  }

  return {
    /**
     * Waits until no file contains the keys, and then calls `done` with the number of ended keys. If this takes longer
     * than two seconds, calls `done` with null and continues the erasure in the background.
     */
    erase(keyIds: readonly string[], destroyedNow: readonly string[], done: (ended: number | null) => void): void {
      for (const keyId of destroyedNow) inLog.add(keyId);
      const ended = keyIds.filter((keyId) => inLog.has(keyId) || owed.has(keyId));
      const settle = (erased: boolean): void => {
        for (const keyId of ended) {
          if (erased) owed.delete(keyId);
          else if (owed.size < owedMax) owed.add(keyId);
        }
        done(erased ? new Set(ended).size : null);
      };
      if (logIsKnown && !keyIds.some((keyId) => inLog.has(keyId))) settle(true);
      else waiting.push({ deadline: performance.now() + patienceMs, done: settle });
    },
    /**
     * Calls `done` with true when the write-ahead log is empty. If it is not empty after two seconds, calls `done` with
     * false.
     */
    flush(done: (isEmpty: boolean) => void): void {
      waiting.push({ deadline: performance.now() + patienceMs, done });
    },
    /** Runs one checkpoint for all waiting requests. Call this after each group. */
    settle(): void {
      if (waiting.length === 0) return;
      if (timer !== null) clearTimeout(timer);
      truncate();
    },
    stop,
    /** Makes a last attempt, and tells all waiting requests its result. */
    close(): void {
      stop();
      const erased = emptyLog();
      for (const { done } of waiting.splice(0)) done(erased);
    },
  };
}

/**
 * Truncates the write-ahead log. Returns null if the log is now empty. Returns an error if a reader or a full disk
 * currently prevents the truncation. Throws StoreBroken if the file itself is broken.
 */
export function truncating(database: SqliteDatabase, fileName: string): StoreUnavailable | null {
  return unavailability(database, fileName, () => {
    const [row] = database.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[];
    if (row?.busy !== 0) throw new StoreUnavailable(fileName, 'busy');
  });
}

/** Syncs the write-ahead log. If the database is a link, SQLite puts the log beside the link's target. */
export function syncLog(database: SqliteDatabase): void {
  fsyncPathSync(`${realpathSync(database.name)}-wal`);
}

/** Runs a step. Returns why the file is unavailable, or null. Throws StoreBroken if the file itself is broken. */
function unavailability(database: SqliteDatabase, fileName: string, step: () => void): StoreUnavailable | null {
  try {
    step();
    return null;
  } catch (error) {
    const translated = databaseError(error, fileName, database.name);
    if (translated instanceof StoreUnavailable) return translated;
    throw translated;
  }
}
