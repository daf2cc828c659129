import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AccessEntry } from '../../../events/access-log/access-entry.js';
import { noBatch } from '../../../events/access-log/batch-hash.js';
import { openDatabase } from '../open-database.js';
import { accessLogError } from './access-log-error.js';
import { type Month, monthOf } from './month.js';
import { monthFile, monthsOnDisk } from './month-files.js';
import { type ChainHead, type MonthWriter, openMonthWriter } from './month-writer.js';

export type AccessWriter = ReturnType<typeof createAccessWriter>;

/**
 * Appends to the access log from the thread that writes. Whatever goes wrong here concerns this log alone: the file is
 * let go and looked at anew by the next append, and the vault goes on.
 */
export function createAccessWriter(dataDir: string) {
  let open: MonthWriter | null = null;
  let head: ChainHead | null = null;

  function letGo(): void {
    try {
      open?.close();
    } finally {
      open = null;
      head = null;
    }
  }

  function writerOf(month: Month): MonthWriter {
    if (open?.month === month) return open;
    open?.close();
    open = null;
    const isNew = !monthsOnDisk(dataDir).includes(month);
    open = openMonthWriter(dataDir, month);
    if (isNew) syncDirectory(dataDir);
    return open;
  }

  function append(entries: readonly AccessEntry[]): void {
    for (let start = 0, end = 0; start < entries.length; start = end) {
      const month = monthOf(entries[start]?.time ?? 0);
      do end += 1;
      while (end < entries.length && monthOf(entries[end]?.time ?? 0) === month);
      head ??= chainHead(dataDir);
      head = writerOf(month).append(entries.slice(start, end), head);
    }
  }

  return {
    /** Appends what many callers record, in one transaction. Null: durable. */
    record(entries: readonly AccessEntry[]): Error | null {
      try {
        append(entries);
        return null;
      } catch (error) {
        letGo();
        return accessLogError(error);
      }
    },
    /** Removes the files of all months before this one and answers how many. */
    drop(before: Month): number | Error {
      try {
        const months = monthsOnDisk(dataDir).filter((month) => month < before);
        if (months.length === 0) return 0;
        // When the last file goes, the end of the chain is known to this process alone.
        head ??= chainHead(dataDir);
        if (open !== null && open.month < before) {
          open.close();
          open = null;
        }
        for (const month of months) {
          // The log first: one without its file would be taken for that of a new file.
          for (const suffix of ['-wal', '-shm', '']) rmSync(join(dataDir, monthFile(month) + suffix), { force: true });
        }
        syncDirectory(dataDir);
        return months.length;
      } catch (error) {
        return accessLogError(error);
      }
    },
    close: letGo,
  };
}

/** The newest batch of all files. */
function chainHead(dataDir: string): ChainHead {
  let head: ChainHead = { sequence: 0, hash: noBatch };
  for (const month of monthsOnDisk(dataDir)) {
    const database = openDatabase(join(dataDir, monthFile(month)), monthFile(month), 'reader');
    try {
      const newest = database.prepare('SELECT sequence, hash FROM batches ORDER BY sequence DESC LIMIT 1');
      const found = newest.get() as ChainHead | undefined;
      if (found !== undefined && found.sequence > head.sequence) head = found;
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
