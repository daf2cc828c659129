import {
  blocksOfSegment,
  checked,
  compareAt,
  entriesOfBlock,
  entryBytes,
  entryOf,
  fenceAt,
  hasTermAt,
  IndexDamaged,
  lowerBound,
  mayHave,
  prefixAt,
  seqAt,
  seqMax,
} from './entries.js';
import { blockName, type IndexStatements, type RunRow, type SegmentRow } from './index-statements.js';

/**
 * The part of a run that contains the entries of one term. It begins at the entry with rank `from` and ends before the
 * entry with rank `to`. `first` is the block of its first entry, and `last` is the block of its last entry.
 */
export type Bounds = { readonly from: number; readonly to: number; readonly first: number; readonly last: number };

/** The functions that read blocks and filters in the reader's transaction. */
type RunSource = Pick<IndexStatements, 'filterOf' | 'block'>;

type Place = { readonly block: number; readonly index: number };

const nothing: Bounds = { from: 0, to: 0, first: 0, last: 0 };
/** The maximum number of terms whose bounds a run caches. Many searches use the same few frequent terms. */
const rememberedMax = 1_000;
/**
 * The maximum number of blocks that a run caches. One search reads the same block several times, and many searches read
 * the same newest blocks.
 */
const blocksMax = 32;

export type Run = ReturnType<typeof openRun>;

/**
 * Opens a run and loads its fences into memory. The returned object does not change. When entries are removed from the
 * blocks of a run, the run gets a new `version`, and callers must open it again.
 */
export function openRun(row: RunRow, segments: readonly SegmentRow[], filters = new Map<number, Buffer>()) {
  const { ids, starts, firsts, prefixes, seqs, count } = flat(segments);
  const remembered = new Map<string, Bounds>();
  const blocks = new Map<number, Buffer>();

  /**
   * Returns the number of blocks whose first entry sorts before `entry`. If `orSame` is true, also counts blocks whose
   * first entry equals `entry`.
   */
  function blocksBefore(entry: Buffer, orSame: boolean): number {
    const prefix = prefixAt(entry, 0);
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = (prefixes[middle] ?? 0) - prefix || compareAt(firsts, middle, entry);
      if (order < 0 || (orSame && order === 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the entries of a block. */
  function entriesIn(source: RunSource, block: number): Buffer {
    const known = blocks.get(block);
    if (known !== undefined) return known;
    const entries = source.block(idOf(block));
    if (compareAt(entries, 0, firsts, block) !== 0) throw new IndexDamaged(blockName(idOf(block)));
    if (blocks.size >= blocksMax) blocks.clear();
    blocks.set(block, entries);
    return entries;
  }

  const idOf = (block: number): number => ids[block] ?? 0;
  const startOf = (block: number): number => starts[block] ?? 0;
  const sizeOf = (block: number): number => startOf(block + 1) - startOf(block);

  /** Returns the number of entries in the run that sort before `entry`. */
  function rankOf(source: RunSource, entry: Buffer): number {
    const block = blocksBefore(entry, false) - 1;
    return block < 0 ? 0 : startOf(block) + lowerBound(entriesIn(source, block), sizeOf(block), entry);
  }

  function passesFilter(source: RunSource, block: number, term: Buffer): boolean {
    const segment = Math.floor(idOf(block) / blocksOfSegment);
    const filter = filters.get(segment) ?? source.filterOf(segment);
    filters.set(segment, filter);
    return mayHave(filter, term);
  }

  function findBounds(source: RunSource, term: Buffer): Bounds {
    const first = entryOf(term, 0);
    const next = blocksBefore(first, false);
    // If no block begins with the term, only the last block before `next` can contain it.
    if (next === count || !hasTermAt(firsts, next, term)) {
      if (next === 0 || !passesFilter(source, next - 1, term)) return nothing;
    }
    const from = rankOf(source, first);
    const to = rankOf(source, entryOf(term, seqMax));
    return from === to ? nothing : { from, to, first: blockOfRank(from), last: blockOfRank(to - 1) };
  }

  /** Returns the block that contains the entry with this rank. */
  function blockOfRank(rank: number): number {
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (startOf(middle + 1) <= rank) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Returns the last block in a term's bounds that can contain an entry with this position or an earlier one. Every
   * block after the first begins with an entry of the term, so comparing the positions is enough.
   */
  function blockOfSeq({ first, last }: Bounds, seq: number): number {
    let [low, high] = [first, last];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((seqs[middle] ?? 0) <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  return {
    row,
    segments,
    filters,
    blockCount: count,
    entriesIn,
    idOf,
    startOf,
    sizeOf,
    rankOf,
    blockOfRank,
    blockOfSeq,
    /** Returns the bounds of a term. `name` is the term as a binary string, and is used as the cache key. */
    boundsOf(source: RunSource, term: Buffer, name: string): Bounds {
      const known = remembered.get(name);
      if (known !== undefined) return known;
      const bounds = findBounds(source, term);
      if (bounds === nothing) return bounds;
      if (remembered.size >= rememberedMax) remembered.clear();
      remembered.set(name, bounds);
      return bounds;
    },
    /**
     * Returns an upper bound on the number of entries in a term's bounds that have a position of at least `seq`. Reads
     * only the fences.
     */
    atMostFrom(bounds: Bounds, seq: number): number {
      return bounds.to - Math.max(startOf(blockOfSeq(bounds, seq)), bounds.from);
    },
    /** Returns the rank of the first entry in a term's bounds that has a position of at least `seq`. */
    rankOfSeq(source: RunSource, bounds: Bounds, seq: number): number {
      // Equal entries can continue in several blocks. The search for the previous position finds the first of them.
      const block = blockOfSeq(bounds, seq - 1);
      const start = startOf(block);
      const end = Math.min(bounds.to - start, sizeOf(block));
      return start + lowerSeq(entriesIn(source, block), Math.max(bounds.from - start, 0), end, seq);
    },
    /**
     * Returns the place of an entry, or null if the run does not contain the entry. `readBlock` returns a block's
     * entries and their count.
     */
    find(
      source: RunSource,
      entry: Buffer,
      readBlock: (block: number) => { readonly entries: Buffer; readonly count: number },
    ): Place | null {
      let block = blocksBefore(entry, true) - 1;
      if (block < 0 || !passesFilter(source, block, entry)) return null;
      for (; block >= 0; block -= 1) {
        const { entries, count: size } = readBlock(block);
        const index = lowerBound(entries, size, entry);
        if (index < size && compareAt(entries, index, entry) === 0) return { block, index };
        // Equal entries can continue in the blocks before this one.
        if (compareAt(firsts, block, entry) !== 0) return null;
      }
      return null;
    },
  };
}

/**
 * Returns the non-empty blocks of all segments. Each block is described by its id, the rank of its first entry, the
 * first entry itself, and the prefix and position of that entry.
 */
function flat(segments: readonly SegmentRow[]) {
  const most = segments.length * blocksOfSegment;
  const ids = new Float64Array(most);
  const starts = new Float64Array(most + 1);
  const firsts = Buffer.alloc(most * entryBytes);
  const prefixes = new Float64Array(most);
  const seqs = new Float64Array(most);
  let count = 0;
  for (const { segment, fences: stored } of segments) {
    const fences = checked(stored, `the fences of segment ${segment}`);
    for (let block = 0; block < blocksOfSegment; block += 1) {
      const fence = fenceAt(fences, block);
      if (fence.count === 0) continue;
      if (fence.count > entriesOfBlock) throw new IndexDamaged(`the fences of segment ${segment}`);
      ids[count] = segment * blocksOfSegment + block;
      starts[count + 1] = (starts[count] ?? 0) + fence.count;
      fence.first.copy(firsts, count * entryBytes);
      prefixes[count] = prefixAt(fence.first, 0);
      seqs[count] = seqAt(fence.first, 0);
      count += 1;
    }
  }
  return { ids, starts, firsts, prefixes, seqs, count };
}

/** A cursor over the `seq` values of a term, newest first. `head` is the current value, or -1 at the end. */
export type Cursor = { head: number; advance(): void };

export function cursorOf(run: Run, source: RunSource, { from }: Bounds, end: number): Cursor {
  let rank = end;
  let block = -1;
  let entries: Buffer | null = null;

  function advance(): void {
    rank -= 1;
    if (rank < from) {
      cursor.head = -1;
      return;
    }
    if (entries === null || rank < run.startOf(block)) {
      block = block < 0 ? run.blockOfRank(rank) : block - 1;
      entries = run.entriesIn(source, block);
    }
    cursor.head = seqAt(entries, rank - run.startOf(block));
  }

  const cursor: Cursor = { head: -1, advance };
  advance();
  return cursor;
}

/** For each `seq` in a descending list, returns the number of entries in a term's bounds that have this `seq`. */
export function countEach(run: Run, source: RunSource, bounds: Bounds, seqs: readonly number[]): readonly number[] {
  const { from, to } = bounds;
  const found = new Array<number>(seqs.length).fill(0);
  let block = -1;
  let entries: Buffer | null = null;
  /** The range of entries in the current block that have the term. */
  let [low, high] = [0, 0];
  for (const [i, seq] of seqs.entries()) {
    if (seq > run.row.seqMax) continue;
    if (seq < run.row.seqMin) break;
    if (entries === null || (low === 0 && seqAt(entries, 0) > seq && run.startOf(block) > from)) {
      block = run.blockOfSeq(bounds, seq);
      entries = run.entriesIn(source, block);
      low = Math.max(from - run.startOf(block), 0);
      high = Math.min(to - run.startOf(block), run.sizeOf(block));
    }
    const first = lowerSeq(entries, low, high, seq);
    let at = first;
    while (at < high && seqAt(entries, at) === seq) at += 1;
    found[i] = at - first;
    // Equal entries can continue in the blocks before this one.
    if (at > first && first === 0 && run.startOf(block) > from) {
      found[i] = run.startOf(block) + at - run.rankOfSeq(source, bounds, seq);
    }
  }
  return found;
}

/** Returns the first index between `low` and `high` whose entry has a position of at least `seq`. */
function lowerSeq(entries: Buffer, low: number, high: number, seq: number): number {
  let [lower, upper] = [low, high];
  while (lower < upper) {
    const middle = (lower + upper) >>> 1;
    if (seqAt(entries, middle) < seq) lower = middle + 1;
    else upper = middle;
  }
  return lower;
}
