import type { AccessEntry } from '../../events/access-log/access-entry.js';
import { entryLine } from '../../events/access-log/batch-hash.js';
import { type Month, monthOf } from './month.js';

const batchBytesMax = 256 * 1024;

/** Entries from one month that are stored together. `lines` contains one line per entry, in the same order. */
export type NewBatch = { readonly month: Month; readonly entries: AccessEntry[]; readonly lines: string[] };

/** An entry and the line of JSON that represents it. */
export type EntryLine = { readonly entry: AccessEntry; readonly line: string };

/**
 * Splits entries into batches without changing their order. Each batch contains entries from a single month and is at
 * most 256 KiB in size.
 */
export function batchesOf(entries: readonly AccessEntry[]): readonly NewBatch[] {
  return batchesOfLines(entries.map((entry) => ({ entry, line: entryLine(entry) })));
}

/** Like `batchesOf`, but for entries that have already been converted to lines. */
export function batchesOfLines(entries: readonly EntryLine[]): readonly NewBatch[] {
  const batches: NewBatch[] = [];
  let bytes = 0;
  for (const { entry, line } of entries) {
    const month = monthOf(entry.time);
    let batch = batches.at(-1);
    if (batch?.month !== month || bytes + line.length > batchBytesMax) {
      batch = { month, entries: [], lines: [] };
      batches.push(batch);
      bytes = 0;
    }
    batch.entries.push(entry);
    batch.lines.push(line);
    bytes += line.length;
  }
  return batches;
}
