import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { noBatch, parseLines } from '../../../events/access-log/batch-hash.js';
import { fsyncPathSync } from '../../shared/fsync-path-sync.js';
import { type Month, monthOf } from '../../shared/month.js';
import { StoreBroken } from '../database/database-error.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { reading } from '../database/reading.js';
import { changedJournal, isSequence, type JournalBatch, type JournalEnd } from '../journal/journal.js';
import { isWhole, nextBatch } from '../journal/read-batches.js';
import type { Span } from './missing-batches.js';
import { fileIdentity, monthFile, monthsOnDisk, newestBatchOf, readMonth } from './month-files.js';
import { type LinedBatch, type MonthWriter, openMonthWriter } from './month-writer.js';
import { pauseAfterFailure } from './pause-after-failure.js';

/** The approximate number of entries and of characters moved in one transaction. */
const entriesAtOnce = 10_000;
const lengthAtOnce = 4 * 1024 * 1024;

/** The first and the last batch in a file. */
type BatchSpan = Omit<Span, 'fileName'>;

/**
 * Moves access log batches from the journal into the month files, with many batches per transaction. If a file cannot
 * be used, the mover closes it, and a later move opens it again. Such a failure affects only the access log, and the
 * rest of the vault continues to work.
 */
export function createBatchMover(journal: SqliteDatabase, dataDir: string) {
  const readNext = nextBatch(journal);
  const batchAfter = (sequence: number) => reading(() => readNext(sequence), 'journal.db');
  const newestBatch = journal.prepare('SELECT ifnull(max(sequence), 0) FROM batches').pluck();
  const spans = createSpans(dataDir);
  let open: MonthWriter | null = null;
  /** Every batch up to this sequence number is in its month's file. */
  let moved = 0;

  function close(): void {
    const closing = open;
    open = null;
    closing?.close();
  }

  /** Returns a writer for the month's current file. Creates the file if it does not exist. */
  function writerOf(month: Month): MonthWriter {
    const identity = fileIdentity(dataDir, month);
    if (open?.month === month && identity === open.identity) return open;
    close();
    open = openMonthWriter(dataDir, month);
    if (identity === null) fsyncPathSync(dataDir);
    return open;
  }

  /**
   * Reads the next batches up to `upTo` that belong to the same month, up to the size of one transaction. Returns null
   * if all of them have been moved. A batch that cannot be moved does not affect the batches before it.
   */
  function readSome(upTo: number): { readonly month: Month; readonly batches: readonly LinedBatch[] } | null {
    let month: Month | null = null;
    let [length, entries] = [0, 0];
    const batches: LinedBatch[] = [];
    for (let next = batchAfter(moved); next !== null; next = batchAfter(next.sequence)) {
      if (next.sequence > upTo || length >= lengthAtOnce || entries >= entriesAtOnce) break;
      const batch = parsed(next);
      if (batch === null) {
        if (month === null) throw changedJournal(`batch ${next.sequence} is not one that the vault recorded`);
        break;
      }
      const itsMonth = monthOf(batch.lines[0]?.shared.time ?? 0);
      month ??= itsMonth;
      if (itsMonth !== month) break;
      batches.push(batch);
      length += next.lines.length;
      entries += batch.lines.reduce((sum, { refs }) => sum + refs.length, 0);
    }
    return month === null ? null : { month, batches };
  }

  /**
   * Moves all batches that are in the journal now. Batches that are appended in the meantime wait for the next move:
   * a transaction with few entries changes almost as many index pages as a transaction with many.
   */
  function moveAll(): void {
    const upTo = Number(reading(() => newestBatch.get(), 'journal.db'));
    for (let some = readSome(upTo); some !== null; some = readSome(upTo)) {
      const writer = writerOf(some.month);
      // Skips the batches that the file already contains. If the process was killed after a move, such batches can
      // still be in the journal. Batches are appended in order, so the file contains every batch up to its newest one.
      const newest = writer.newest();
      spans.forget(some.month);
      writer.append(some.batches.filter(({ sequence }) => sequence > newest));
      moved = some.batches.at(-1)?.sequence ?? moved;
    }
  }

  const pausing = pauseAfterFailure(close);

  // A drop has its own pauses, so that it still removes files while a damaged file stops every move.
  const pausingDrops = pauseAfterFailure();

  function attempt<T>(pauses: typeof pausing, work: () => T): T | Error {
    try {
      return pauses(work);
    } catch (error) {
      return error as Error; // `pauses` has already converted it.
    }
  }

  function move(): number | Error {
    return attempt(pausing, () => {
      moveAll();
      return moved;
    });
  }

  return {
    /** Moves all batches into the month files. Returns the sequence number of the last moved batch, or an error. */
    move,
    /**
     * Moves all batches into the month files, and then removes the files of the months before `before` (see
     * `monthsToDrop`). Returns the number of removed files, or an error. Removes the files of the other months even if
     * one file is damaged.
     */
    drop: (before: Month, now: Month): number | Error =>
      attempt(pausingDrops, () => {
        const result = move();
        const { months, damage } = monthsToDrop(dataDir, spans.of, before, now);
        if (open !== null && open.month < before) close();
        for (const month of months) {
          // Removes the file's write-ahead log before the file itself. If the log were left behind, SQLite would later
          // apply it to a new file with the same name.
          for (const suffix of ['-wal', '-shm', '']) rmSync(join(dataDir, monthFile(month) + suffix), { force: true });
        }
        if (months.length > 0) fsyncPathSync(dataDir);
        if (result instanceof Error) throw result;
        if (damage !== null) throw damage;
        return months.length;
      }),
    moved: (): number => moved,
    close,
  };
}

/**
 * Returns a batch with its parsed lines, or null if its hash is wrong or one of its lines contains no entries. Threat:
 * an attacker changes a batch in the journal while the vault runs, or adds one with a correct hash. Such a batch is not
 * moved.
 */
function parsed(batch: JournalBatch): LinedBatch | null {
  if (!isWhole(batch) || !isSequence(batch.sequence)) return null;
  const { sequence, previous, hash } = batch;
  const lines = parseLines(batch.lines.split('\n'));
  return lines === null ? null : { sequence, previous, hash, lines };
}

/**
 * Returns the months before `before` whose batches are all older than the batches that stay, oldest batches first. If
 * the removal is interrupted, the files that are left therefore have no gap. If the clock was set back for a while, the
 * file of an old month contains batches that are newer than those of later months. Without this check, new entries
 * would be removed, and the chain would have a gap. Ignores the months after `now`, because entries are in such a month
 * only if the clock was ahead, and they would keep all later entries until that month is over.
 *
 * A month whose file is damaged stays, and does not keep other months, so that their entries are not stored longer than
 * promised. `damage` is the first damage that was found. If all months that stay are damaged, no month is returned,
 * because it is unknown what they contain.
 */
function monthsToDrop(
  dataDir: string,
  spanOf: (month: Month) => BatchSpan,
  before: Month,
  now: Month,
): { readonly months: readonly Month[]; readonly damage: StoreBroken | null } {
  const all = monthsOnDisk(dataDir);
  const old = all.filter((month) => month < before);
  let damage: StoreBroken | null = null;
  const spansOf = (months: readonly Month[]) =>
    months.flatMap((month) => {
      try {
        return [{ month, ...spanOf(month) }];
      } catch (error) {
        if (!(error instanceof StoreBroken)) throw error;
        damage ??= error;
        return [];
      }
    });
  if (old.length === 0) return { months: [], damage };
  const kept = all.filter((month) => month >= before && month <= now);
  const keptSpans = spansOf(kept);
  if (kept.length > 0 && keptSpans.length === 0) return { months: [], damage };
  let firstKept = Math.min(Number.POSITIVE_INFINITY, ...keptSpans.map(({ first }) => first));
  const newestFirst = spansOf(old).sort((one, other) => other.last - one.last);
  const months: Month[] = [];
  for (const { month, first, last } of newestFirst) {
    if (last < firstKept) months.unshift(month);
    else firstKept = Math.min(firstKept, first);
  }
  return { months, damage };
}

/**
 * Reads the first and the last batch in a month's file, and remembers them until `forget` is called. Without this, each
 * drop would open all files again while an old file has to stay, and the memory of an opened file is never freed
 * (`pin-statements.ts`). `of` throws StoreBroken if the file is damaged.
 */
function createSpans(dataDir: string) {
  const known = new Map<Month, { readonly identity: string | null; readonly span: BatchSpan }>();

  return {
    of(month: Month): BatchSpan {
      const identity = fileIdentity(dataDir, month);
      const found = known.get(month);
      if (found?.identity === identity) return found.span;
      const find = 'SELECT ifnull(min(sequence), 1e999) AS first, ifnull(max(sequence), 0) AS last FROM batches';
      const span = readMonth(dataDir, month, (database) => database.prepare(find).get() as BatchSpan);
      known.set(month, { identity, span });
      return span;
    },
    forget: (month: Month): void => void known.delete(month),
  };
}

/** Returns the newest batch in the month files. Throws StoreBroken if a file is damaged. */
export function newestMovedBatch(dataDir: string): JournalEnd {
  let newest: JournalEnd = { sequence: 0, hash: noBatch };
  for (const month of monthsOnDisk(dataDir)) {
    const found = readMonth(dataDir, month, (database) => newestBatchOf(database, month)());
    if (found !== null && found.sequence > newest.sequence) newest = found;
  }
  return newest;
}
