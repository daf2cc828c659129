import type { FoundProblem } from '../../../ports/store-problem.js';
import { readFile } from '../database/reading.js';
import { removedIn } from '../journal/journal.js';

/** A month's file, and the numbers of its first and last batch. */
export type Span = { readonly fileName: string; readonly first: number; readonly last: number };

/**
 * Returns the number of the newest batch that was removed from the journal because it was in its month's file. Returns
 * 0 if there is no such batch. Throws StoreBroken if the journal was changed by another program.
 */
export function newestRemovedBatch(dataDir: string): number {
  return readFile(dataDir, 'journal.db', (journal) => removedIn(journal, 'batches').sequence);
}

/**
 * Returns a problem if batches are missing between the spans of the month files or after them, up to the batch
 * `removed`. If `isWhole` is true, also returns a problem if the first batch is missing. The spans of two files overlap
 * if the clock was set back to an earlier month. Two files never begin with the same batch, unless one is a copy of the
 * other.
 */
export function missingBatches(spans: readonly Span[], removed: number, isWhole: boolean): FoundProblem | null {
  const sorted = [...spans].sort((one, other) => one.first - other.first);
  let end = isWhole ? 0 : (sorted[0]?.first ?? removed + 1) - 1;
  for (const [index, { fileName, first, last }] of sorted.entries()) {
    const before = sorted[index - 1];
    if (before?.first === first) return copied(before.fileName, fileName, first);
    if (first > end + 1) return missing(end + 1, first - 1);
    end = Math.max(end, last);
  }
  return removed > end ? missing(end + 1, removed) : null;
}

function missing(first: number, last: number): FoundProblem {
  const which = first === last ? `batch ${first}` : `the batches ${first} to ${last}`;
  return {
    check: 'access log',
    says: `entries of the access log are missing: no file contains ${which}`,
    do:
      'Find out who removed or replaced a file `access-YYYY-MM.db`. If a month has no file, stop the service and ' +
      'put back the newest copy of that file',
  };
}

function copied(one: string, other: string, batch: number): FoundProblem {
  return {
    check: 'access log',
    says: `${one} and ${other} both begin with batch ${batch} of the access log: one of them is a copy of the other`,
    do: 'Find out who copied it. Then stop the service, and move the copy out of the data directory',
  };
}
