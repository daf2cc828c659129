import type { AccessEntry } from '../../../events/access-log/access-entry.js';
import { groupsOf, lineWriter } from '../../../events/access-log/batch-hash.js';
import { type Month, monthOf } from '../../shared/month.js';

const batchBytesMax = 256 * 1024;

/** Entries from one month that are stored together. `lines` contains the lines of these entries, in the same order. */
export type NewBatch = { readonly month: Month; readonly entries: AccessEntry[]; readonly lines: string[] };

/**
 * Splits entries into batches without changing their order. Each batch contains entries from a single month, and its
 * lines are at most 256 KiB long. A line is never split, so that a verifier computes the same lines from the batch.
 * Each entry's trace has its own ciphertext, so no line refers to the ciphertext in an earlier one.
 */
export function batchesOf(entries: readonly AccessEntry[]): readonly NewBatch[] {
  const batches: NewBatch[] = [];
  let bytes = 0;
  const lineOf = lineWriter();
  for (const group of groupsOf(entries)) {
    const line = lineOf(group, group[0]);
    // The entries of a group have the same time.
    const month = monthOf(group[0].time);
    let batch = batches.at(-1);
    if (batch?.month !== month || bytes + line.length > batchBytesMax) {
      batch = { month, entries: [], lines: [] };
      batches.push(batch);
      bytes = 0;
    }
    batch.entries.push(...group);
    batch.lines.push(line);
    bytes += line.length;
  }
  return batches;
}
