import type { SqliteDatabase } from '../open-database.js';

const retryMs = 10;
const patienceMs = 2_000;
const backgroundRetryMs = 1_000;

type Waiting = { readonly deadline: number; done(erased: boolean): void };

/**
 * A destroyed key is overwritten by a commit, but the log file of SQLite still holds the page as it was. Erased means
 * that the log was copied back and cut to nothing, which any open reader turns into a silent no-op: so the row that
 * the checkpoint answers is looked at, for two seconds, and many destructions share one checkpoint.
 */
export function createErasure(database: SqliteDatabase) {
  /** Keys that are overwritten in the file and may still stand in its log. */
  const inLog = new Set<string>();
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | null = null;

  function truncate(): void {
    timer = null;
    if (truncateLog(database)) {
      inLog.clear();
      for (const { done } of waiting.splice(0)) done(true);
      return;
    }
    const now = performance.now();
    const late = waiting.filter(({ deadline }) => deadline <= now);
    waiting = waiting.filter(({ deadline }) => deadline > now);
    for (const { done } of late) done(false);
    timer = setTimeout(truncate, waiting.length > 0 ? retryMs : backgroundRetryMs);
  }

  return {
    /** Calls `done` once the keys are in no file, or with false after two seconds; then it goes on by itself. */
    erase(keyIds: readonly string[], destroyedNow: readonly string[], done: (ended: number | null) => void): void {
      for (const keyId of destroyedNow) inLog.add(keyId);
      const ended = keyIds.filter((keyId) => inLog.has(keyId)).length;
      if (ended === 0) done(0);
      else waiting.push({ deadline: performance.now() + patienceMs, done: (erased) => done(erased ? ended : null) });
    },
    /** One checkpoint for all that wait. Called after each group. */
    settle(): void {
      if (waiting.length === 0) return;
      if (timer !== null) clearTimeout(timer);
      truncate();
    },
    close(): void {
      if (timer !== null) clearTimeout(timer);
      truncateLog(database);
      for (const { done } of waiting.splice(0)) done(false);
    },
  };
}

/** True when the write-ahead log is empty now. */
export function truncateLog(database: SqliteDatabase): boolean {
  const [row] = database.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[];
  return row?.busy === 0;
}
