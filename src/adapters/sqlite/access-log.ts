import type { AccessEntry, NewAccessEntry } from '../../events/access-log/access-entry.js';
import { sealedLines } from '../../events/access-log/seal-entries.js';
import type { AccessLog } from '../../ports/access-log.js';
import { type Month, monthOf } from '../shared/month.js';
import { accessLogError } from './access-log/access-log-error.js';
import { missingBatches, newestRemovedBatch } from './access-log/missing-batches.js';
import { fileIdentity, monthFile, monthsOnDisk } from './access-log/month-files.js';
import { type MonthReader, openMonthReader } from './access-log/month-reader.js';
import { pauseAfterFailure } from './access-log/pause-after-failure.js';
import type { Writer } from './writer/writer.js';

/**
 * The name of the access log's only hash chain. One chain is enough, because only one thread writes entries. After a
 * restart, the same chain continues.
 */
const chain = 'vault';

/**
 * A group with the entries of this many calls of `record` is handed to the writer immediately. A smaller group is
 * handed over at the end of the current turn of the event loop. Calls are counted instead of entries, because all
 * entries of a page of tokens usually share a line.
 */
const recordsOfGroup = 16;
/** The approximate maximum length of the lines in one request to the writer. */
const requestBytesMax = 64 * 1024;
/** The approximate length of a line without its trace, and of each further entry in the line. */
const [lengthOfLine, lengthInLine] = [400, 70];

/** Entries from one month. They are handed to the writer together. */
type Group = {
  readonly month: Month;
  readonly entries: NewAccessEntry[];
  /** The number of calls of `record` that added entries to the group. */
  records: number;
  readonly stored: Promise<void>;
  handOver(): void;
};

/** A month's file. `reader` is null if the file could not be opened. */
type OpenedFile = {
  readonly identity: string | null;
  readonly pausing: ReturnType<typeof pauseAfterFailure>;
  reader: MonthReader | null;
};

/**
 * Implements `AccessLog` on the journal and one file per month. The writer appends entries to the journal in batches,
 * and the writer's background thread moves the batches into the month files. All reads except `counts` first wait until
 * the files contain every recorded entry.
 */
export function sqliteAccessLog(dataDir: string, writer: Writer): AccessLog & { close(): void } {
  const files = new Map<Month, OpenedFile>();

  function close(month: Month): void {
    files.get(month)?.reader?.close();
    files.delete(month);
  }

  function readerOf(month: Month): MonthReader {
    const identity = fileIdentity(dataDir, month);
    if (files.get(month)?.identity !== identity) close(month);
    const file = files.get(month) ?? { identity, pausing: pauseAfterFailure(), reader: null };
    files.set(month, file);
    file.reader ??= file.pausing(() => openMonthReader(dataDir, month));
    return file.reader;
  }

  let group: Group | null = null;

  function beginGroup(month: Month): Group {
    const entries: NewAccessEntry[] = [];
    let settle: (stored: Promise<void>) => void = () => undefined;
    const stored = new Promise<void>((resolve) => {
      settle = resolve;
    });
    function handOver(): void {
      if (group === begun) group = null;
      if (isHandedOver) return;
      isHandedOver = true;
      settle(sendEntries(writer, month, entries));
    }
    let isHandedOver = false;
    const begun: Group = { month, entries, records: 0, stored, handOver };
    setImmediate(handOver);
    return begun;
  }

  /** Adds an entry to the current group for its month, and returns the group. */
  function add(entry: NewAccessEntry): Group {
    const month = monthOf(entry.time);
    if (group !== null && group.month !== month) group.handOver();
    group ??= beginGroup(month);
    group.entries.push(entry);
    return group;
  }

  /**
   * Moves all batches from the journal into the month files, and then runs `read` on the files. `read` sees every entry
   * whose `record` call has resolved.
   */
  async function readMoved<T>(read: () => T): Promise<T> {
    await writer.request('move_access', null);
    return reading(read);
  }

  return {
    record(entries, when) {
      if (entries.length === 0) return Promise.resolve();
      if (when === 'last') return sendLast(writer, entries);
      const stored = new Set<Promise<void>>();
      for (const entry of entries) stored.add(add(entry).stored);
      // The group is handed over only after all entries have been added, so that entries of one request share a line.
      if (group !== null) {
        group.records += 1;
        if (group.records >= recordsOfGroup) group.handOver();
      }
      const [first = Promise.resolve(), ...others] = stored;
      return others.length === 0 ? first : Promise.all(stored).then(() => undefined);
    },
    async query(tenantId, filter, { offset, limit }) {
      return readMoved(() => {
        let total = 0;
        const entries: AccessEntry[] = [];
        for (const month of monthsBetween(dataDir, filter.from, filter.to).reverse()) {
          const skipped = Math.max(0, offset - total);
          const found = readerOf(month).query(tenantId, filter, skipped, limit - entries.length);
          total += found.total;
          entries.push(...found.entries);
        }
        return { total, entries };
      });
    },
    async chains() {
      return readMoved(() =>
        monthsOnDisk(dataDir).some((month) => readerOf(month).batches(0, 1).length > 0) ? [chain] : [],
      );
    },
    async batches(of, afterSequence, limit) {
      if (of !== chain) return [];
      return readMoved(() =>
        monthsOnDisk(dataDir)
          .flatMap((month) => readerOf(month).batches(afterSequence, limit))
          // If the clock was set back to an earlier month, that month's file can contain newer batches than the files
          // of later months.
          .sort((one, other) => one.sequence - other.sequence)
          .slice(0, limit),
      );
    },
    async counts(of, afterSequence, upTo) {
      if (of !== chain) return { last: upTo, counts: [] };
      return reading(() => {
        const counters = monthsOnDisk(dataDir).map((month) => readerOf(month).counter);
        const last = Math.min(upTo, ...counters.map((counter) => counter.upTo(afterSequence) ?? upTo));
        return { last, counts: counters.flatMap((counter) => counter.counts(afterSequence, last)) };
      });
    },
    async heads(since) {
      return readMoved(() => {
        const newest = monthsBetween(dataDir, since, null).flatMap((month) => readerOf(month).newestBatch() ?? []);
        const [head] = newest.sort((one, other) => other.sequence - one.sequence);
        return head === undefined ? [] : [{ chain, ...head }];
      });
    },
    async missing(isWhole) {
      const find = () => {
        // Reads the journal first. Every batch that was removed from the journal is already in a month's file.
        const removed = newestRemovedBatch(dataDir);
        // Reads the newest month first, because the mover fills older months first. Otherwise, a move in the meantime
        // would look like a gap.
        const months = monthsOnDisk(dataDir).reverse();
        const spans = months.flatMap((month) => {
          const span = readerOf(month).span();
          return span === null ? [] : [{ fileName: monthFile(month), ...span }];
        });
        return missingBatches(spans, removed, isWhole);
      };
      // Looks before the move too. If a file was replaced by an older copy, a move adds new batches to its end, and the
      // gap before them is then inside the file.
      return reading(find) ?? readMoved(find);
    },
    async dropMonths(before, now) {
      try {
        return await writer.request('drop_access', { beforeMonth: monthOf(before), thisMonth: monthOf(now) });
      } finally {
        // The disk space of a removed file is free only after the file has been closed. The other files stay open.
        const left = new Set(monthsOnDisk(dataDir));
        for (const month of [...files.keys()]) if (!left.has(month)) close(month);
      }
    },
    close() {
      for (const month of [...files.keys()]) close(month);
    },
  };
}

async function sendLast(writer: Writer, entries: readonly NewAccessEntry[]): Promise<void> {
  const months = new Set(entries.map(({ time }) => monthOf(time)));
  for (const month of months) {
    const ofMonth = entries.filter(({ time }) => monthOf(time) === month);
    await sendEntries(writer, month, ofMonth, true);
  }
}

/** Sends entries of one month to the writer as lines. Resolves when all of them are durable. */
async function sendEntries(
  writer: Writer,
  month: Month,
  entries: readonly NewAccessEntry[],
  isLast = false,
): Promise<void> {
  const sent = partsOf(entries).map((part) => {
    // Sends all lines as one string. A single string is passed to another thread faster than objects or many strings.
    const lines = sealedLines(part).join('\n');
    return writer.request('record_access', { month, lines, entries: part.length, isLast });
  });
  await Promise.all(sent);
}

/** Splits entries into parts whose lines are about as long as a request to the writer may be. */
function partsOf(entries: readonly NewAccessEntry[]): readonly (readonly NewAccessEntry[])[] {
  const parts: NewAccessEntry[][] = [];
  let length = 0;
  for (const entry of entries) {
    const part = parts.at(-1);
    const sharesLine = entry.trace !== null && entry.trace === part?.at(-1)?.trace;
    const alone = lengthOfLine + traceLength(entry);
    const added = sharesLine ? lengthInLine : alone;
    if (part === undefined || length + added > requestBytesMax) {
      parts.push([entry]);
      length = alone;
    } else {
      part.push(entry);
      length += added;
    }
  }
  return parts;
}

/** Returns the maximum length of an entry's trace in Base64. A character has at most three bytes in UTF-8. */
function traceLength({ trace }: NewAccessEntry): number {
  if (trace === null) return 0;
  return trace instanceof Uint8Array ? 2 * trace.length : 4 * trace.text.length;
}

function monthsBetween(dataDir: string, from: number, to: number | null): Month[] {
  const [first, last] = [monthOf(from), to === null ? null : monthOf(to)];
  return monthsOnDisk(dataDir).filter((month) => month >= first && (last === null || month <= last));
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw accessLogError(error);
  }
}
