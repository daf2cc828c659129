import { entryBytes, termBytes, writeEntry } from './entries.js';
import type { ChangeRow } from './index-statements.js';

/**
 * The maximum number of entries for the fast sort. Up to this number, a single JavaScript number can hold both the
 * first five bytes of an entry and the index of the entry.
 */
const indexLimit = 2 ** 13;

/** Returns the entries of all postings added by the changes, in sorted order. */
export function sortEntries(changes: readonly ChangeRow[]): Buffer {
  const count = changes.reduce((sum, { added }) => sum + (added?.length ?? 0) / termBytes, 0);
  const entries = Buffer.allocUnsafe(count * entryBytes);
  let next = 0;
  for (const { seq, added } of changes) {
    for (let at = 0; added !== null && at < added.length; at += termBytes) {
      writeEntry(entries, next, added.subarray(at, at + termBytes), seq);
      next += 1;
    }
  }
  const sorted = Buffer.allocUnsafe(entries.length);
  for (const [place, index] of orderOf(entries, count).entries()) {
    entries.copy(sorted, place * entryBytes, index * entryBytes, (index + 1) * entryBytes);
  }
  return sorted;
}

/**
 * Returns the indexes of the entries in sorted order. Comparing numbers is many times faster than comparing entries.
 * This function therefore sorts the entries by their first bytes, read as a number. It compares whole entries only if
 * their first bytes are equal.
 */
function orderOf(entries: Buffer, count: number): readonly number[] {
  const compare = (one: number, other: number): number =>
    entries.compare(entries, other * entryBytes, (other + 1) * entryBytes, one * entryBytes, (one + 1) * entryBytes);
  if (count > indexLimit) return Array.from({ length: count }, (_, index) => index).sort(compare);
  const keys = new Float64Array(count);
  for (let index = 0; index < count; index += 1)
    keys[index] = entries.readUIntBE(index * entryBytes, 5) * indexLimit + index;
  keys.sort();
  const order: number[] = [];
  let alike: number[] = [];
  let last = -1;
  for (const key of keys) {
    const index = key % indexLimit;
    const prefix = (key - index) / indexLimit;
    if (prefix !== last) {
      order.push(...alike.sort(compare));
      alike = [];
      last = prefix;
    }
    alike.push(index);
  }
  order.push(...alike.sort(compare));
  return order;
}
