import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { databaseError } from '../database/database-error.js';
import type { SqliteDatabase } from '../database/open-database.js';

const retryMs = 10;
const patienceMs = 2_000;
const backgroundRetryMs = 1_000;
const owedMax = 10_000;

type Waiting = { readonly deadline: number; done(erased: boolean): void };

/**
 * A destroyed key is overwritten by a commit, but the log file of SQLite still holds the page as it was. Erased means
 * that the log was copied back and cut to nothing, which any open reader turns into a silent no-op: so the row that
 * the checkpoint answers is looked at, for two seconds, and many destructions share one checkpoint. `onBroken` is told
 * when the file can no longer be written.
 */
export function createErasure(database: SqliteDatabase, onBroken: (error: unknown) => void) {
  /** Keys that are overwritten in the file and may still stand in its log. */
  const inLog = new Set<string>();
  /** Keys whose command was told that they are not erased yet: its repeat is told when they are, whoever did it. */
  const owed = new Set<string>();
  /** What a crash left in the log: keys of which only their absence from the log is known to be erasure. */
  let logIsKnown = emptyLog(database);
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | null = logIsKnown ? null : setTimeout(retry, backgroundRetryMs);

  function retry(): void {
    try {
      truncate();
    } catch (error) {
      onBroken(error);
    }
  }

  function truncate(): void {
    timer = null;
    if (emptyLog(database)) {
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

  return {
    /** Calls `done` once the keys are in no file, or with false after two seconds; then it goes on by itself. */
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
    /** Calls `done` once the log is empty, or with false after two seconds. */
    flush(done: (isEmpty: boolean) => void): void {
      waiting.push({ deadline: performance.now() + patienceMs, done });
    },
    /** One checkpoint for all that wait. Called after each group. */
    settle(): void {
      if (waiting.length === 0) return;
      if (timer !== null) clearTimeout(timer);
      truncate();
    },
    /** Leaves the file alone from now on. */
    stop(): void {
      if (timer !== null) clearTimeout(timer);
    },
    close(): void {
      if (timer !== null) clearTimeout(timer);
      const erased = emptyLog(database);
      for (const { done } of waiting.splice(0)) done(erased);
    },
  };
}

function emptyLog(database: SqliteDatabase): boolean {
  return truncateLog(database, 'keys.db');
}

/**
 * True when the write-ahead log is empty now. A reader, or a disk without room for what is copied back, only puts it
 * off; throws StoreBroken when the file itself is at fault.
 */
export function truncateLog(database: SqliteDatabase, fileName: string): boolean {
  try {
    const [row] = database.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[];
    return row?.busy === 0;
  } catch (error) {
    const translated = databaseError(error, fileName);
    if (translated instanceof StoreUnavailable) return false;
    throw translated;
  }
}
