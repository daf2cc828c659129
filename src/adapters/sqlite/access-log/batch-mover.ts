import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AccessBatch } from '../../../events/access-log/access-entry.js';
import { entryOfLine, noBatch } from '../../../events/access-log/batch-hash.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { type Month, monthOf } from '../../access-log/month.js';
import { openDatabase, type SqliteDatabase } from '../database/open-database.js';
import type { JournalBatch, JournalEnd } from '../journal/journal.js';
import { isWhole, nextBatch } from '../journal/read-batches.js';
import { accessLogError } from './access-log-error.js';
import { fileIdentity, monthFile, monthsOnDisk } from './month-files.js';
import { type MonthWriter, openMonthWriter } from './month-writer.js';

/** The approximate number of characters that one transaction moves. This corresponds to about 4,000 entries. */
const linesAtOnce = 1024 * 1024;

/**
 * How long to pause after a failure, in ms. The pause doubles with each further failure. There is no pause if the cause
 * can pass by itself, for example a full disk or a lack of file descriptors.
 */
const restMsMin = 1_000;
const restMsMax = 60_000;

/**
 * Moves access log batches from the journal into the file of each month, with many batches per transaction. A failure
 * affects only the access log. The mover then closes the file, the next move opens it again, and the vault continues.
 */
export function createBatchMover(journal: SqliteDatabase, dataDir: string) {
  const batchAfter = nextBatch(journal);
  let open: MonthWriter | null = null;
  /** Every batch up to this sequence number is in the file of its month. */
  let moved = 0;
  let restMs = restMsMin;
  let restsUntil = Number.NEGATIVE_INFINITY;

  function close(): void {
    const closing = open;
    open = null;
    closing?.close();
  }

  /** Returns the writer for the month's current file. Creates the file if it does not exist or was removed. */
  function writerOf(month: Month): MonthWriter {
    const identity = fileIdentity(dataDir, month);
    if (open?.month === month && identity === open.identity) return open;
    close();
    open = openMonthWriter(dataDir, month);
    if (identity === null) syncDirectory(dataDir);
    return open;
  }

  /** Reads the next batches, up to the first batch from a different month. */
  function readSome(): { readonly month: Month; readonly batches: readonly AccessBatch[] } | null {
    let month: Month | null = null;
    let length = 0;
    const batches: AccessBatch[] = [];
    for (let next = batchAfter(moved); next !== null && length < linesAtOnce; next = batchAfter(next.sequence)) {
      const batch = parsed(next);
      const itsMonth = monthOf(batch.entries[0]?.time ?? 0);
      month ??= itsMonth;
      if (itsMonth !== month) break;
      batches.push(batch);
      length += next.lines.length;
    }
    return month === null ? null : { month, batches };
  }

  function moveAll(): void {
    for (let some = readSome(); some !== null; some = readSome()) {
      const writer = writerOf(some.month);
      // If the process was killed, some batches may be in both the journal and the file. Batches are added to a file in
      // order, so it already contains every batch up to its newest one.
      const newest = writer.newest();
      writer.append(some.batches.filter(({ sequence }) => sequence > newest));
      moved = some.batches.at(-1)?.sequence ?? moved;
    }
  }

  function attempt<T>(work: () => T): T | Error {
    if (performance.now() < restsUntil) return new StoreUnavailable('access log', 'broken');
    try {
      const done = work();
      restMs = restMsMin;
      return done;
    } catch (error) {
      const unavailable = accessLogError(error);
      // If the disk was full or there were no file descriptors, for example, the transaction has been rolled back and
      // can be retried unchanged.
      if (isPassing(unavailable)) return unavailable;
      close();
      restsUntil = performance.now() + restMs;
      restMs = Math.min(restMs * 2, restMsMax);
      return unavailable;
    }
  }

  return {
    /** Moves all batches. Returns the sequence number of the last batch that has been moved. */
    move: (): number | Error =>
      attempt(() => {
        moveAll();
        return moved;
      }),
    /**
     * Moves all batches, and then removes the files of all months before this one. Returns the number of removed files.
     */
    drop: (before: Month): number | Error =>
      attempt(() => {
        moveAll();
        const months = monthsOnDisk(dataDir).filter((month) => month < before);
        if (months.length === 0) return 0;
        if (open !== null && open.month < before) close();
        for (const month of months) {
          // Removes the write-ahead log first. If the log were left behind, SQLite would apply it to a new file with
          // the same name.
          for (const suffix of ['-wal', '-shm', '']) rmSync(join(dataDir, monthFile(month) + suffix), { force: true });
        }
        syncDirectory(dataDir);
        return months.length;
      }),
    moved: (): number => moved,
    close,
  };
}

function parsed(batch: JournalBatch): AccessBatch {
  // Threat: another program changes the journal while the vault runs. At the next start, the vault reports that the
  // file was changed.
  if (!isWhole(batch)) throw new StoreUnavailable('access log', 'changed_by_another_program');
  const { sequence, previous, hash, lines } = batch;
  return { sequence, previous, hash, entries: lines.split('\n').map(entryOfLine) };
}

/** Returns the newest batch in the month files. */
export function newestMovedBatch(dataDir: string): JournalEnd {
  let newest: JournalEnd = { sequence: 0, hash: noBatch };
  for (const month of monthsOnDisk(dataDir)) {
    const database = openDatabase(join(dataDir, monthFile(month)), monthFile(month), 'reader');
    try {
      const last = database.prepare('SELECT sequence, hash FROM batches ORDER BY sequence DESC LIMIT 1');
      const found = last.get() as JournalEnd | undefined;
      if (found !== undefined && found.sequence > newest.sequence) newest = found;
    } finally {
      database.close();
    }
  }
  return newest;
}

/** Makes the creation or removal of files in the directory durable. */
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
