import { seqMax } from './entries.js';
import type { IndexState, IndexStatements, RunRow } from './index-statements.js';
import { type Bounds, type Cursor, countEach, cursorOf, openRun, type Run } from './run.js';
import { createTail, type Tail } from './tail.js';

/** The search index as seen by one transaction. `seq` is the position of the event that created a token. */
export type IndexView = {
  /** Returns the number of tokens that have a term. */
  count(term: Buffer): number;
  /**
   * Returns the tokens in `seqs` that have a term. `seqs` is sorted newest first, and the result has the same order.
   */
  among(term: Buffer, seqs: readonly number[]): readonly number[];
  /** Returns a cursor over the tokens that have a term and were created before the position `before`, newest first. */
  postings(term: Buffer, before: number): Cursor;
  /** Returns a page of the tokens that have a term, newest first. Skips the tokens in `hidden`. */
  page(term: Buffer, range: { readonly offset: number; readonly limit: number }, hidden: readonly number[]): number[];
};

/** The maximum number of terms whose places in the runs are cached. */
const placesMax = 10_000;
/** The maximum number of outdated postings in the tail. If there are more, the tail is reloaded. */
const staleMax = 4_096;

/**
 * Creates the cache for one generation's index. The cache contains the tail and the fences of the runs. All connections
 * of a thread share the cache. Before a search, `viewOf` updates the cache to the state seen by the search's
 * transaction, so the writer thread does not have to notify this thread. An update does not change the views of older
 * transactions.
 */
export function createIndexViews() {
  let version = -1;
  let runs: readonly Run[] = [];
  let tail: Tail = createTail(0);
  /** For each cached term, the runs that contain the term, together with the term's bounds in each run. */
  let places: Places = new Map();

  function update(statements: IndexStatements, state: IndexState): void {
    if (state.version !== version) {
      const rows = statements.runs().filter(({ state: each }) => each === 'read');
      runs = openRuns(statements, rows, runs);
      places = new Map();
      version = state.version;
      if (state.erased - tail.start > staleMax || state.erased >= tail.last()) tail = createTail(state.erased);
    }
    if (state.last > tail.last()) tail.add(statements.changesAfter(tail.last()));
  }

  return {
    /** Returns the index as seen by the current transaction. Call this at the beginning of the transaction. */
    viewOf(statements: IndexStatements): IndexView {
      const state = statements.state();
      update(statements, state);
      return viewOn(statements, { runs, tail, places }, state);
    },
  };
}

/** Opens the runs that are new or have changed. Reuses the runs in `known` that have not changed. */
export function openRuns(statements: IndexStatements, rows: readonly RunRow[], known: readonly Run[]): readonly Run[] {
  const byId = new Map(known.map((run) => [run.row.run, run]));
  return rows.map((row) => {
    const before = byId.get(row.run);
    if (before?.row.version === row.version) return { ...before, row };
    if (before === undefined) return openRun(row, statements.segmentsAfter(row.run, -1));
    const segments = new Map(before.segments.map((segment) => [segment.segment, segment]));
    for (const segment of statements.segmentsAfter(row.run, before.row.version)) segments.set(segment.segment, segment);
    return openRun(row, [...segments.values()], before.filters);
  });
}

type InRun = { readonly run: Run; readonly bounds: Bounds };
type Places = Map<string, readonly InRun[]>;
type Memory = { readonly runs: readonly Run[]; readonly tail: Tail; readonly places: Places };

/**
 * Creates a view. The view counts every posting in the runs, even if a later change has removed it, and then subtracts
 * the removals that have not been erased from the runs yet. A posting that was removed and added again can therefore
 * occur twice.
 */
function viewOn(source: IndexStatements, { runs, tail, places }: Memory, state: IndexState): IndexView {
  /** Returns the runs that contain a term, together with the term's bounds in each run. */
  function placesOf(term: Buffer): readonly InRun[] {
    const name = term.toString('latin1');
    const known = places.get(name);
    if (known !== undefined) return known;
    const found: InRun[] = [];
    for (const run of runs) {
      const bounds = run.boundsOf(source, term, name);
      if (bounds.from < bounds.to) found.push({ run, bounds });
    }
    if (places.size >= placesMax) places.clear();
    places.set(name, found);
    return found;
  }

  function postings(term: Buffer, before: number): Cursor {
    const { added, removed } = tail.of(term, state);
    const cursors: Cursor[] = [];
    for (const { run, bounds } of placesOf(term)) {
      if (run.row.seqMin >= before) continue;
      const end = run.row.seqMax < before ? bounds.to : run.rankOfSeq(source, bounds, before);
      cursors.push(cursorOf(run, source, bounds, end));
    }
    if (added.length > 0) cursors.push(cursorOver(added.filter((seq) => seq < before)));
    const [only] = cursors;
    return only !== undefined && cursors.length === 1 && removed.length === 0 ? only : joined(cursors, removed);
  }

  /** Returns the number of tokens that have the term and whose position is at least `seq`. */
  function countFrom(term: Buffer, seq: number): number {
    const { added, removed } = tail.of(term, state);
    let count = atLeast(added, seq) - atLeast(removed, seq);
    for (const { run, bounds } of placesOf(term)) {
      if (run.row.seqMax >= seq) count += bounds.to - run.rankOfSeq(source, bounds, seq);
    }
    return count;
  }

  /**
   * Returns a position such that the number of tokens with the term at or after it is close to `most`, but never
   * larger.
   */
  function seqNear(term: Buffer, most: number): number {
    const { added } = tail.of(term, state);
    const found = placesOf(term);
    const atMost = (seq: number): number =>
      found.reduce((sum, { run, bounds }) => sum + run.atMostFrom(bounds, seq), added.length);
    // All postings lie between these positions, so the search takes far fewer steps than it would over all positions.
    let low = found.reduce((least, { run }) => Math.min(least, run.row.seqMin), seqMax);
    let high = found.reduce((most, { run }) => Math.max(most, run.row.seqMax), 0) + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (atMost(middle) <= most) high = middle;
      else low = middle + 1;
    }
    return atMost(low) <= most ? low : seqMax;
  }

  return {
    count(term) {
      const { added, removed } = tail.of(term, state);
      const inRuns = placesOf(term).reduce((sum, { bounds }) => sum + bounds.to - bounds.from, 0);
      return Math.max(inRuns + added.length - removed.length, 0);
    },
    among(term, seqs) {
      const { added, removed } = tail.of(term, state);
      const found = placesOf(term).flatMap(({ run, bounds }) => countEach(run, source, bounds, seqs));
      const inTail = timesAdded(added, removed, seqs);
      return seqs.filter((seq, i) => {
        let count = inTail.get(seq) ?? 0;
        for (let at = i; at < found.length; at += seqs.length) count += found[at] ?? 0;
        return count > 0;
      });
    },
    postings,
    page(term, { offset, limit }, hidden) {
      const skipped = new Set(hidden);
      // For a large offset, uses the fences to find a position shortly before the page, and walks from that position.
      const start = offset > skippedMin ? seqNear(term, offset) : seqMax;
      let left = start === seqMax ? offset : offset - countFrom(term, start) + atLeast(hidden, start);
      const page: number[] = [];
      for (const cursor = postings(term, start); cursor.head >= 0 && page.length < limit; cursor.advance()) {
        if (skipped.has(cursor.head)) continue;
        if (left > 0) left -= 1;
        else page.push(cursor.head);
      }
      return page;
    },
  };
}

/**
 * For each position in `seqs`, returns how often it occurs in `added` minus how often it occurs in `removed`. `seqs` is
 * sorted newest first. Skips the positions outside its range, because the tail can contain thousands of them.
 */
function timesAdded(
  added: readonly number[],
  removed: readonly number[],
  seqs: readonly number[],
): ReadonlyMap<number, number> {
  const [newest = -1, oldest = 0] = [seqs[0], seqs.at(-1)];
  const times = new Map<number, number>();
  const note = (changed: readonly number[], by: 1 | -1): void => {
    for (const seq of changed) {
      if (seq >= oldest && seq <= newest) times.set(seq, (times.get(seq) ?? 0) + by);
    }
  };
  note(added, 1);
  note(removed, -1);
  return times;
}

/** If a page's offset is larger than this, the fences are used to find the page. */
const skippedMin = 200;

function atLeast(seqs: readonly number[], seq: number): number {
  let count = 0;
  for (const each of seqs) if (each >= seq) count += 1;
  return count;
}

function cursorOver(seqs: number[]): Cursor {
  seqs.sort((a, b) => b - a);
  let next = 0;
  const cursor: Cursor = {
    head: seqs[0] ?? -1,
    advance() {
      next += 1;
      cursor.head = seqs[next] ?? -1;
    },
  };
  return cursor;
}

/**
 * Merges several cursors into one cursor. The merged cursor returns a `seq` only if it occurs more often in the cursors
 * than in `removed`. It returns each `seq` only once.
 */
function joined(cursors: readonly Cursor[], removed: readonly number[]): Cursor {
  const gone = new Map<number, number>();
  for (const seq of removed) gone.set(seq, (gone.get(seq) ?? 0) + 1);

  function advance(): void {
    for (;;) {
      let head = -1;
      for (const each of cursors) if (each.head > head) head = each.head;
      let times = head < 0 ? 0 : -(gone.get(head) ?? 0);
      for (const each of cursors) {
        while (head >= 0 && each.head === head) {
          times += 1;
          each.advance();
        }
      }
      if (head >= 0 && times <= 0) continue;
      cursor.head = head;
      return;
    }
  }

  const cursor: Cursor = { head: -1, advance };
  advance();
  return cursor;
}

/** Merges the cursors of several terms into one cursor that returns each token only once. */
export function joinCursors(cursors: readonly Cursor[]): Cursor {
  const [only] = cursors;
  return only !== undefined && cursors.length === 1 ? only : joined(cursors, []);
}
