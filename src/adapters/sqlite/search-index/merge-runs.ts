import { compareAt, entryBytes, prefixAt } from './entries.js';
import type { IndexStatements } from './index-statements.js';
import type { Run } from './run.js';

/**
 * Returns the next entries after `position` from several runs, in sorted order, and at most `entriesMax` of them. If
 * `position` is null, begins with the first entries.
 */
export function nextEntries(
  statements: IndexStatements,
  parts: readonly Run[],
  position: Buffer | null,
  entriesMax: number,
): Buffer {
  const readers = parts
    .map((run) => readerAfter(statements, run, position))
    .filter((reader) => reader.entries !== null);
  const target = Buffer.allocUnsafe(entriesMax * entryBytes);
  let count = 0;
  while (readers.length > 0 && count < entriesMax) {
    let least = 0;
    for (let i = 1; i < readers.length; i += 1) if (isBefore(readers[i], readers[least])) least = i;
    const reader = readers[least];
    if (reader === undefined || reader.entries === null) break;
    reader.entries.copy(target, count * entryBytes, reader.index * entryBytes, (reader.index + 1) * entryBytes);
    count += 1;
    reader.advance();
    if (reader.entries === null) readers.splice(least, 1);
  }
  return target.subarray(0, count * entryBytes);
}

/** Returns a reader for those entries of a run that sort after `position`. */
function readerAfter(statements: IndexStatements, run: Run, position: Buffer | null) {
  let left = 0;
  let block = -1;
  const reader = {
    entries: null as Buffer | null,
    index: 0,
    prefix: 0,
    advance(): void {
      reader.index += 1;
      left -= 1;
      if (left <= 0) open(block + 1, 0);
      else note();
    },
  };

  function note(): void {
    if (reader.entries !== null) reader.prefix = prefixAt(reader.entries, reader.index);
  }

  function open(next: number, index: number): void {
    block = next;
    reader.entries = block < run.blockCount ? run.entriesIn(statements, block) : null;
    reader.index = index;
    left = run.sizeOf(block) - index;
    if (reader.entries !== null && left <= 0) open(block + 1, 0);
    else note();
  }

  if (position === null) open(0, 0);
  else {
    const rank = run.rankOf(statements, afterEntry(position));
    const first = run.blockOfRank(rank);
    open(first, rank - run.startOf(first));
  }
  return reader;
}

type Reading = { readonly entries: Buffer | null; readonly index: number; readonly prefix: number };

function isBefore(one: Reading | undefined, other: Reading | undefined): boolean {
  if (one === undefined || other === undefined || one.entries === null || other.entries === null) return false;
  if (one.prefix !== other.prefix) return one.prefix < other.prefix;
  return compareAt(one.entries, one.index, other.entries, other.index) < 0;
}

/** Returns the smallest possible entry that sorts after `entry`. */
function afterEntry(entry: Buffer): Buffer {
  const after = Buffer.from(entry);
  let at = after.length - 1;
  while (at > 0 && after[at] === 0xff) after[at--] = 0;
  after[at] = (after[at] ?? 0) + 1;
  return after;
}
