import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { entryOfLine, noBatch } from '../../../events/access-log/batch-hash.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { EntryLine } from '../../access-log/batches-of.js';
import { type Month, monthOf } from '../../access-log/month.js';
import { openDatabase } from '../database/open-database.js';
import { accessLogError } from './access-log-error.js';
import { fileIdentity, monthFile, monthsOnDisk } from './month-files.js';
import { type ChainHead, type MonthWriter, openMonthWriter } from './month-writer.js';

export type AccessWriter = ReturnType<typeof createAccessWriter>;

/** The pause after a failure other than a full disk or a missing file. It doubles with each further failure. */
const restMsMin = 1_000;
const restMsMax = 60_000;

/** The file that a group of entries went to, with its identity. */
export type Appended = { readonly path: string; readonly identity: string; readonly entries: number };

/**
 * Appends to the access log from the writer thread. Calls `onAppended` when entries are durable. A failure concerns this log alone: the writer closes the file, the
 * next append opens it again, and the vault continues.
 */
export function createAccessWriter(dataDir: string, onAppended: (appended: Appended) => void = () => undefined) {
  let open: MonthWriter | null = null;
  let head: ChainHead | null = null;
  let restMs = restMsMin;
  let restsUntil = Number.NEGATIVE_INFINITY;

  function close(): void {
    const closing = open;
    open = null;
    closing?.close();
  }

  /**
   * Returns the writer of the month's current file. A removed file is created again. The chain continues from the
   * newest batch in memory, and so shows what is missing.
   */
  function writerOf(month: Month): MonthWriter {
    const identity = fileIdentity(dataDir, month);
    if (open?.month === month && identity === open.identity) return open;
    const wasReplaced = open?.month === month;
    close();
    if (head === null || wasReplaced) head = newer(head, chainHead(dataDir));
    open = openMonthWriter(dataDir, month);
    if (identity === null) syncDirectory(dataDir);
    return open;
  }

  function append(entries: readonly EntryLine[]): void {
    for (let start = 0, end = 0; start < entries.length; start = end) {
      const month = monthOf(entries[start]?.entry.time ?? 0);
      do end += 1;
      while (end < entries.length && monthOf(entries[end]?.entry.time ?? 0) === month);
      const writer = writerOf(month);
      head = writer.append(entries.slice(start, end), head ?? noHead);
      const { identity } = writer;
      if (identity !== null) onAppended({ path: join(dataDir, monthFile(month)), identity, entries: end - start });
    }
  }

  return {
    /** Appends the entries of many callers, as their lines, in one transaction. Returns null once they are durable. */
    record(lines: readonly string[]): Error | null {
      if (performance.now() < restsUntil) return new StoreUnavailable('access log', 'broken');
      try {
        append(lines.map((line) => ({ line, entry: entryOfLine(line) })));
        restMs = restMsMin;
        return null;
      } catch (error) {
        const unavailable = accessLogError(error);
        // With a full disk or a missing file, the append is undone and can be retried unchanged.
        if (isPassing(unavailable)) return unavailable;
        close();
        head = null;
        restsUntil = performance.now() + restMs;
        restMs = Math.min(restMs * 2, restMsMax);
        return unavailable;
      }
    },
    /** Removes the files of all months before this one and returns their number. */
    drop(before: Month): number | Error {
      try {
        const months = monthsOnDisk(dataDir).filter((month) => month < before);
        if (months.length === 0) return 0;
        // Once the last file is removed, only this process knows the end of the chain.
        head ??= chainHead(dataDir);
        if (open !== null && open.month < before) close();
        for (const month of months) {
          // Remove the write-ahead log first: SQLite would take a leftover log for that of a new file.
          for (const suffix of ['-wal', '-shm', '']) rmSync(join(dataDir, monthFile(month) + suffix), { force: true });
        }
        syncDirectory(dataDir);
        return months.length;
      } catch (error) {
        return accessLogError(error);
      }
    },
    close,
  };
}

const noHead: ChainHead = { sequence: 0, hash: noBatch };

function newer(one: ChainHead | null, other: ChainHead): ChainHead {
  return one !== null && one.sequence > other.sequence ? one : other;
}

/** Returns the newest batch of all files. */
function chainHead(dataDir: string): ChainHead {
  let head = noHead;
  for (const month of monthsOnDisk(dataDir)) {
    const database = openDatabase(join(dataDir, monthFile(month)), monthFile(month), 'reader');
    try {
      const newest = database.prepare('SELECT sequence, hash FROM batches ORDER BY sequence DESC LIMIT 1');
      const found = newest.get() as ChainHead | undefined;
      head = newer(found ?? null, head);
    } finally {
      database.close();
    }
  }
  return head;
}

/** Makes a new or removed name durable. */
function syncDirectory(dataDir: string): void {
  const directory = openSync(dataDir, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

function isPassing(error: Error): boolean {
  return error instanceof StoreUnavailable && error.reason !== 'broken';
}
