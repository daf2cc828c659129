import { crc32 } from 'node:zlib';
import { StoreBroken } from '../database/database-error.js';

/**
 * The storage format of the search index. A posting records that a token has a term. The entry of a posting consists of
 * the term and the position of the event that created the token (`seq`). Entries are sorted by term and then by
 * creation order. A block contains sorted entries. A segment consists of several blocks, one fence for each block, and
 * a Bloom filter over the terms in the blocks. A fence contains the number of entries in its block and the first of
 * these entries. A run is a sorted sequence of segments.
 */
export const termBytes = 16;
const seqBytes = 6;
export const entryBytes = termBytes + seqBytes;
/**
 * The number of entries that, together with the block's checksum, fill a 4 KiB page. A changed block is therefore
 * overwritten in place, and no copy of the old block remains in the file.
 */
export const entriesOfBlock = 180;
const bytesOfBlock = entriesOfBlock * entryBytes;
export const blocksOfSegment = 16;
export const entriesOfSegment = blocksOfSegment * entriesOfBlock;

export const seqMax = 2 ** (8 * seqBytes) - 1;

/** Thrown when a part of the search index is damaged. The index is derived data, so a rebuild can recreate it. */
export class IndexDamaged extends StoreBroken {
  constructor(part: string) {
    super({
      check: 'search index',
      says: `the search index in vault.db is damaged: ${part}`,
      do: 'Run: strongroom projections rebuild tokens',
    });
    this.name = 'IndexDamaged';
  }
}

export function writeEntry(target: Buffer, index: number, term: Buffer, seq: number): void {
  const at = index * entryBytes;
  term.copy(target, at, 0, termBytes);
  target.writeUIntBE(seq, at + termBytes, seqBytes);
}

/** Returns the entry of a posting. */
export function entryOf(term: Buffer, seq: number): Buffer {
  const entry = Buffer.allocUnsafe(entryBytes);
  writeEntry(entry, 0, term, seq);
  return entry;
}

/**
 * Returns one entry for each term of a token. `terms` contains the concatenated terms, or is null if the token has no
 * terms.
 */
export function entriesOf(terms: Buffer | null, seq: number): readonly Buffer[] {
  const entries: Buffer[] = [];
  for (let at = 0; terms !== null && at < terms.length; at += termBytes) {
    entries.push(entryOf(terms.subarray(at, at + termBytes), seq));
  }
  return entries;
}

export function seqAt(entries: Buffer, index: number): number {
  return entries.readUIntBE(index * entryBytes + termBytes, seqBytes);
}

/** Compares the entry at `index` with another entry. Returns a negative number if the entry at `index` sorts first. */
export function compareAt(entries: Buffer, index: number, entry: Buffer, entryIndex = 0): number {
  const [at, other] = [index * entryBytes, entryIndex * entryBytes];
  return entries.compare(entry, other, other + entryBytes, at, at + entryBytes);
}

export function hasTermAt(entries: Buffer, index: number, term: Buffer): boolean {
  const at = index * entryBytes;
  return entries.compare(term, 0, termBytes, at, at + termBytes) === 0;
}

/** Returns false if this entry of a block is unused. Unused space contains zeros, and no event has position zero. */
export function isUsed(entries: Buffer, index: number): boolean {
  return seqAt(entries, index) > 0;
}

/**
 * Returns the first bytes of an entry as a number. Numbers are faster to compare than buffers. Two different entries
 * can have the same prefix.
 */
export function prefixAt(entries: Buffer, index: number): number {
  return entries.readUIntBE(index * entryBytes, 6);
}

/** Returns how many of the first `count` entries sort before `entry`. */
export function lowerBound(entries: Buffer, count: number, entry: Buffer): number {
  const prefix = prefixAt(entry, 0);
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((prefixAt(entries, middle) - prefix || compareAt(entries, middle, entry)) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Appends a checksum, so that damage to the data is detected. SQLite alone would not detect it, because SQLite checks
 * only the structure of a page. The checksum covers the data and the number `seed`.
 */
function withChecksum(data: Buffer, seed = 0): Buffer {
  const stored = Buffer.allocUnsafe(data.length + 4);
  data.copy(stored);
  stored.writeUInt32BE(crc32(data, seed), data.length);
  return stored;
}

/**
 * Verifies the checksum of stored data, and returns the data without the checksum. If the data is missing or damaged,
 * throws IndexDamaged with a message that names `part`.
 */
export function checked(stored: unknown, part: string, seed = 0): Buffer {
  if (!Buffer.isBuffer(stored) || stored.length < 4) throw new IndexDamaged(part);
  const data = stored.subarray(0, stored.length - 4);
  if (crc32(data, seed) !== stored.readUInt32BE(data.length)) throw new IndexDamaged(part);
  return data;
}

/** Encodes the terms that a change adds to a token or removes from it. Returns null if there are no terms. */
export function changeOf(terms: Buffer, seq: number): Buffer | null {
  return terms.length === 0 ? null : withChecksum(terms, seedOf(seq));
}

/** Returns the terms in a stored change. Throws IndexDamaged if the change's terms or `seq` are damaged. */
export function termsOfChange(stored: Buffer | null, number: number, seq: number): Buffer | null {
  return stored === null ? null : checked(stored, `change ${number}`, seedOf(seq));
}

function seedOf(seq: number): number {
  const bytes = Buffer.alloc(seqBytes);
  bytes.writeUIntBE(seq, 0, seqBytes);
  return crc32(bytes);
}

/** Encodes a block. Every encoded block has the same size, and unused space is filled with zeros. */
export function blockOf(entries: Buffer): Buffer {
  const block = Buffer.alloc(bytesOfBlock);
  entries.copy(block);
  return withChecksum(block);
}

const countBytes = 2;
const fenceBytes = countBytes + entryBytes;

/** The number of entries in a block, and the first of these entries. */
export type Fence = { readonly count: number; readonly first: Buffer };

/** Encodes the fences of a segment. The fence of an empty block consists of zeros. */
export function fencesOf(fences: readonly Fence[]): Buffer {
  const stored = Buffer.alloc(blocksOfSegment * fenceBytes);
  for (const [block, { count, first }] of fences.entries()) {
    if (count === 0) continue;
    stored.writeUInt16BE(count, block * fenceBytes);
    first.copy(stored, block * fenceBytes + countBytes);
  }
  return withChecksum(stored);
}

export function fenceAt(fences: Buffer, block: number): Fence {
  const at = block * fenceBytes;
  return { count: fences.readUInt16BE(at), first: fences.subarray(at + countBytes, at + fenceBytes) };
}

const bitsOfTerm = 10;
const probes = 6;

/**
 * Returns a Bloom filter over the terms of sorted entries. The terms cannot be recovered from the filter, because terms
 * are keyed hashes and the filter combines the bits of all terms in the segment.
 */
export function filterOf(entries: Buffer, count: number): Buffer {
  let terms = 0;
  for (let index = 0; index < count; index += 1) if (isNewTerm(entries, index)) terms += 1;
  const filter = Buffer.alloc(Math.ceil((terms * bitsOfTerm) / 8) + 1);
  for (let index = 0; index < count; index += 1) {
    if (isNewTerm(entries, index)) forEachBit(entries, index * entryBytes, filter, setBit);
  }
  return withChecksum(filter);
}

/** Returns false only if no entry in the segment has the term. */
export function mayHave(filter: Buffer, term: Buffer): boolean {
  return forEachBit(term, 0, filter, hasBit);
}

function isNewTerm(entries: Buffer, index: number): boolean {
  const at = index * entryBytes;
  return index === 0 || entries.compare(entries, at - entryBytes, at - seqBytes, at, at + termBytes) !== 0;
}

/**
 * Calls `visit` for each bit of a term in the filter until `visit` returns false. The bits are derived from the last
 * bytes of the term, because the terms in one segment have similar first bytes.
 */
function forEachBit(
  bytes: Buffer,
  at: number,
  filter: Buffer,
  visit: (filter: Buffer, bit: number) => boolean,
): boolean {
  const bits = filter.length * 8;
  const step = bytes.readUInt32BE(at + 12) | 1;
  let bit = bytes.readUInt32BE(at + 8);
  for (let probe = 0; probe < probes; probe += 1) {
    if (!visit(filter, bit % bits)) return false;
    bit = (bit + step) >>> 0;
  }
  return true;
}

function setBit(filter: Buffer, bit: number): boolean {
  filter.writeUInt8(filter.readUInt8(bit >>> 3) | (1 << (bit & 7)), bit >>> 3);
  return true;
}

function hasBit(filter: Buffer, bit: number): boolean {
  return (filter.readUInt8(bit >>> 3) & (1 << (bit & 7))) !== 0;
}
