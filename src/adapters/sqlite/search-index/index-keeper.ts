import type { SqliteDatabase } from '../database/open-database.js';
import { rowTables, type Slot } from '../database/rows-schema.js';
import {
  blockOf,
  blocksOfSegment,
  entriesOf,
  entriesOfBlock,
  entriesOfSegment,
  entryBytes,
  fencesOf,
  filterOf,
  seqAt,
  termBytes,
} from './entries.js';
import {
  type ChangeRow,
  expectSuccession,
  type IndexState,
  indexStatements,
  openChange,
  type RunRow,
  type SegmentRow,
} from './index-statements.js';
import { openRuns } from './index-view.js';
import { nextEntries } from './merge-runs.js';
import { openRun, type Run } from './run.js';
import { createRunEditor, fencesIn } from './run-editor.js';
import { sortEntries } from './sort-entries.js';

/** The sizes that control merging. Tests use smaller sizes. */
type IndexSizes = {
  /** When the unmerged changes contain this many postings, they are merged into a run. */
  readonly mergedAtOnce: number;
  /** When a level contains this many runs, they are combined into one run on the next level. */
  readonly runsOfLevel: number;
  readonly entriesOfSegment: number;
};

const usualSizes: IndexSizes = { mergedAtOnce: 2_048, runsOfLevel: 8, entriesOfSegment };
/** The approximate number of removed postings that one step erases from blocks. */
const erasedAtOnce = 96;
/** The maximum number of segments that one step deletes from runs that are no longer read. */
const droppedAtOnce = 8;
/** If the stored changes contain more postings than this, removed postings are erased early. */
const manyPostings = 16_384;
/** If this many merges are due, they have priority over all other steps. */
const lateMerges = 4;
/**
 * Two limits above which writes wait for merges. `postingsMax` is the maximum number of postings in the stored changes.
 * `runsMax` is the maximum number of runs that are not being combined.
 */
const postingsMax = 65_536;
const runsMax = 96;

/**
 * Maintains the index of one generation in steps of a few ms. Each step runs in one `vault.db` transaction. A step does
 * not change the result of any search. There are four kinds of steps:
 *
 * 1. *Merge*: the oldest changes become a run.
 * 2. *Erase*: removed postings are erased from the blocks of the runs, and then their changes are deleted.
 * 3. *Combine*: eight runs on one level become one run on the next level. Each step writes one segment.
 * 4. *Drop*: the runs that were combined are deleted. Each step deletes a few segments.
 *
 * All progress is stored in the file, so a crash after any step loses nothing. After a failed step, call `forget`.
 */
export function createIndexKeeper(database: SqliteDatabase, slot: Slot, sizes: IndexSizes = usualSizes) {
  const { mergedAtOnce, runsOfLevel } = sizes;
  const statements = indexStatements(database, slot);
  const write = writeStatements(database, slot);
  let runs: readonly Run[] = [];

  /** Returns the runs read by searches. */
  function current(rows: readonly RunRow[]): readonly Run[] {
    runs = openRuns(
      statements,
      rows.filter(({ state }) => state === 'read'),
      runs,
    );
    return runs;
  }

  /** Appends sorted entries to a run as a new segment. The entries must fit into one segment. */
  function appendSegment(run: number, version: number, entries: Buffer): void {
    const count = entries.length / entryBytes;
    const blocks = Array.from({ length: Math.ceil(count / entriesOfBlock) }, (_, block) =>
      entries.subarray(block * entriesOfBlock * entryBytes, (block + 1) * entriesOfBlock * entryBytes),
    );
    const fences = blocks.map((block) => ({ count: block.length / entryBytes, first: block.subarray(0, entryBytes) }));
    const segment = Number(write.addSegment.run(run, version, fencesOf(fences)).lastInsertRowid);
    write.addFilter.run(segment, filterOf(entries, count));
    for (const [block, each] of blocks.entries()) write.addBlock.run(segment * blocksOfSegment + block, blockOf(each));
  }

  function mergeChanges({ merged, erased, version }: IndexState): void {
    const taken: ChangeRow[] = [];
    let postings = 0;
    for (const change of statements.changesAfter(merged, mergedAtOnce)) {
      if (postings >= mergedAtOnce) break;
      taken.push(change);
      postings += (change.added?.length ?? 0) / termBytes;
    }
    expectSuccession(taken, merged);
    const to = taken.at(-1)?.number ?? merged;
    if (postings > 0) {
      const entries = sortEntries(taken);
      const seqs = taken.filter(({ added }) => added !== null).map(({ seq }) => seq);
      write.addRun.run({
        run: version + 1,
        level: 0,
        state: 'read',
        seqMin: seqs.reduce((least, seq) => Math.min(least, seq)),
        seqMax: seqs.reduce((most, seq) => Math.max(most, seq)),
      });
      const bytes = sizes.entriesOfSegment * entryBytes;
      for (let at = 0; at < entries.length; at += bytes) {
        appendSegment(version + 1, version + 1, entries.subarray(at, at + bytes));
      }
    }
    write.advance.run({ merged: to, erased, version: version + 1 });
  }

  function eraseRemoved({ merged, erased, version }: IndexState): void {
    const removed: Buffer[] = [];
    let to = merged;
    for (const change of (write.removals.all(erased, merged) as ChangeRow[]).map(openChange)) {
      removed.push(...entriesOf(change.removed, change.seq));
      if (removed.length < erasedAtOnce) continue;
      to = change.number;
      break;
    }
    if (removed.length > 0) takeOut(removed, version + 1);
    write.advance.run({ merged, erased: to, version: version + 1 });
    write.forgetChanges.run(to);
    // If no change is left, also runs a DELETE without a condition. This overwrites the leftover bytes of moved rows in
    // the last page of the table.
    if (write.anyChange.get() === undefined) write.forgetAll.run();
  }

  /**
   * For each removed posting, removes one entry from the runs that searches read. If the entry has already been copied
   * into a run that is being built, also removes the copy.
   */
  function takeOut(removed: readonly Buffer[], version: number): void {
    const editorOf = (run: Run) => createRunEditor(run, statements, write);
    const rows = statements.runs();
    const read = current(rows).map((run) => ({ run, editor: editorOf(run) }));
    const built = rows
      .filter(({ state }) => state === 'building')
      .map((row) => openRun(row, statements.segmentsAfter(row.run, -1)))
      .map((run) => ({ run, editor: editorOf(run), last: lastOf(run.row.run) }));
    for (const entry of removed.toSorted(Buffer.compare)) {
      const seq = seqAt(entry, 0);
      const owner = read.find(
        ({ run: { row }, editor }) => row.seqMin <= seq && row.seqMax >= seq && editor.remove(entry),
      );
      const target = built.find(({ run }) => run.row.run === owner?.run.row.into);
      if (target !== undefined && target.last !== null && entry.compare(target.last) <= 0) target.editor.remove(entry);
    }
    for (const { editor } of [...read, ...built]) editor.save(version);
  }

  /**
   * Performs one step of combining runs. The step begins a new run, writes the next segment of a run, or finishes a
   * run. Low levels have priority, because new runs arrive on them quickly, while combining the runs on a high level
   * takes thousands of steps. Returns false if there is nothing to combine.
   *
   * Before a run begins, all merged removals are erased. Otherwise, a posting that was removed and added again would
   * occur more than once in the runs. Each step begins after the last entry that the previous step wrote, and would
   * skip other entries that are equal to it. Once a run has begun, its parts can only lose entries.
   */
  function combine(state: IndexState): boolean {
    const { merged, erased, version } = state;
    const rows = statements.runs();
    const levels = new Map<number, RunRow[]>();
    const building = rows.filter((row) => row.state === 'building').sort((a, b) => a.level - b.level)[0];
    for (const row of rows) {
      if (row.state === 'read' && row.into === null) levels.set(row.level, [...(levels.get(row.level) ?? []), row]);
    }
    const full = [...levels]
      .filter(([level, parts]) => parts.length >= runsOfLevel && !isBuilt(rows, level + 1))
      .sort(([a], [b]) => a - b)[0];
    if (full !== undefined && (building === undefined || full[0] + 1 < building.level)) {
      if (isRemoved(erased, merged)) {
        eraseRemoved(state);
        return true;
      }
      begin(full[0] + 1, full[1], version + 1);
    } else if (building !== undefined) proceed(building, rows, version + 1);
    else return false;
    write.bump.run(version + 1);
    return true;
  }

  function begin(level: number, parts: readonly RunRow[], run: number): void {
    const seqMin = Math.min(...parts.map((row) => row.seqMin));
    const seqMax = Math.max(...parts.map((row) => row.seqMax));
    write.addRun.run({ run, level, state: 'building', seqMin, seqMax });
    for (const row of parts) write.combineInto.run(run, row.run);
  }

  function proceed({ run }: RunRow, rows: readonly RunRow[], version: number): void {
    const parts = current(rows).filter(({ row }) => row.into === run);
    const entries = nextEntries(statements, parts, lastOf(run), sizes.entriesOfSegment);
    if (entries.length > 0) {
      appendSegment(run, version, entries);
      write.changeRun.run(version, run);
    } else {
      write.dropParts.run(run);
      write.readRun.run(version, run);
    }
  }

  /** Returns the last entry of a run without opening the run. Returns null if the run has no entries. */
  function lastOf(run: number): Buffer | null {
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const row = write.segmentBefore.get(run, before) as Pick<SegmentRow, 'segment' | 'fences'> | undefined;
      if (row === undefined) return null;
      const fences = fencesIn(row.fences, row.segment);
      const block = fences.findLastIndex(({ count }) => count > 0);
      const { count = 0 } = fences[block] ?? {};
      if (count > 0) {
        const entries = statements.block(row.segment * blocksOfSegment + block);
        return entries.subarray((count - 1) * entryBytes, count * entryBytes);
      }
      before = row.segment;
    }
  }

  function drop(): void {
    const segments = write.droppedSegments.all(droppedAtOnce) as number[];
    for (const segment of segments) {
      write.deleteBlocks.run(segment * blocksOfSegment, (segment + 1) * blocksOfSegment);
      write.deleteFilter.run(segment);
      write.deleteSegment.run(segment);
    }
    if (segments.length < droppedAtOnce) write.deleteRuns.run();
    if (write.anySegment.get() === undefined) for (const all of write.deleteAll) all.run();
  }

  const isCrowded = (limit: number): boolean => Number(write.separateRuns.get()) > limit;
  const hasDropped = (): boolean => write.anyDropped.get() !== undefined;
  const isRemoved = (after: number, upTo: number): boolean => write.anyRemoval.get(after, upTo) !== undefined;

  function isErased(upTo: number): boolean {
    return !isRemoved(statements.state().erased, upTo) && !hasDropped();
  }

  return {
    /**
     * Performs one step. Postings removed by changes up to `eraseUpTo` are erased before most other steps. Returns
     * false if there is nothing to do.
     */
    step(eraseUpTo: number): boolean {
      const state = statements.state();
      const { last, merged, erased } = state;
      // Overdue merges come before all other steps. Dropping a large level takes hundreds of steps, and new postings
      // arrive during that time.
      if (last - merged >= lateMerges * mergedAtOnce) mergeChanges(state);
      else if (hasDropped() && !isCrowded(runsMax / 2)) drop();
      else if (erased < eraseUpTo && isRemoved(erased, eraseUpTo)) {
        if (merged < Math.min(eraseUpTo, last)) mergeChanges(state);
        else eraseRemoved(state);
      } else if (last - merged >= mergedAtOnce) mergeChanges(state);
      else if (erased < merged && !isRemoved(erased, merged)) eraseRemoved(state);
      else if (combine(state)) return true;
      else if (hasDropped()) drop();
      else return false;
      return true;
    },
    /** Returns the number of the newest change. */
    last: (): number => statements.state().last,
    /**
     * Returns true if neither the changes nor the blocks contain removed postings. The write-ahead log can still
     * contain removed postings.
     */
    isClean: (): boolean => isErased(Number.MAX_SAFE_INTEGER),
    /** Like `isClean`, but only for postings removed by changes up to `upTo`. */
    isErased,
    hasManyRemovals(): boolean {
      const { last, erased } = statements.state();
      return last - erased > manyPostings;
    },
    /** Returns true if writes must wait for merges. */
    isBehind(): boolean {
      const { last, erased } = statements.state();
      return last - erased > postingsMax || isCrowded(runsMax);
    },
    isEmpty: (): boolean => write.runCount.get() === 0,
    /** Deletes a part of the index. Call this repeatedly until it returns true, which means that the index is empty. */
    empty(): boolean {
      const { last, version } = statements.state();
      write.dropAll.run();
      write.advance.run({ merged: last, erased: last, version: version + 1 });
      write.forgetAll.run();
      if (hasDropped()) drop();
      return !hasDropped();
    },
    /** Discards the cached runs. Call this after a step's transaction has failed. */
    forget(): void {
      runs = [];
    },
  };
}

export type IndexKeeper = ReturnType<typeof createIndexKeeper>;

function isBuilt(rows: readonly RunRow[], level: number): boolean {
  return rows.some((row) => row.state === 'building' && row.level === level);
}

function writeStatements(database: SqliteDatabase, slot: Slot) {
  const { changes, indexState, runs, segments, filters, blocks } = rowTables(slot);
  return {
    addRun: database.prepare(
      `INSERT INTO ${runs} (run, level, state, version, seq_min, seq_max)
       VALUES (@run, @level, @state, @run, @seqMin, @seqMax)`,
    ),
    addSegment: database.prepare(`INSERT INTO ${segments} (run, version, fences) VALUES (?, ?, ?)`),
    addFilter: database.prepare(`INSERT INTO ${filters} (segment, filter) VALUES (?, ?)`),
    addBlock: database.prepare(`INSERT INTO ${blocks} (block, entries) VALUES (?, ?)`),
    changeBlock: database.prepare(`UPDATE ${blocks} SET entries = ? WHERE block = ?`),
    changeSegment: database.prepare(`UPDATE ${segments} SET version = ?, fences = ? WHERE segment = ?`),
    changeRun: database.prepare(`UPDATE ${runs} SET version = ? WHERE run = ?`),
    combineInto: database.prepare(`UPDATE ${runs} SET merges_into = ? WHERE run = ?`),
    dropAll: database.prepare(`UPDATE ${runs} SET state = 'dropped' WHERE state <> 'dropped'`),
    dropParts: database.prepare(`UPDATE ${runs} SET state = 'dropped' WHERE merges_into = ?`),
    readRun: database.prepare(`UPDATE ${runs} SET state = 'read', version = ? WHERE run = ?`),
    segmentBefore: database.prepare(
      `SELECT segment, fences FROM ${segments} WHERE run = ? AND segment < ? ORDER BY segment DESC LIMIT 1`,
    ),
    advance: database.prepare(`UPDATE ${indexState} SET merged = @merged, erased = @erased, version = @version`),
    bump: database.prepare(`UPDATE ${indexState} SET version = ?`),
    removals: database.prepare(
      `SELECT number, seq, NULL AS added, removed FROM ${changes}
       WHERE removed IS NOT NULL AND number > ? AND number <= ?
       ORDER BY number LIMIT ${erasedAtOnce}`,
    ),
    anyRemoval: database.prepare(
      `SELECT 1 FROM ${changes} WHERE removed IS NOT NULL AND number > ? AND number <= ? LIMIT 1`,
    ),
    forgetChanges: database.prepare(`DELETE FROM ${changes} WHERE number <= ?`),
    anyChange: database.prepare(`SELECT 1 FROM ${changes} LIMIT 1`),
    forgetAll: database.prepare(`DELETE FROM ${changes}`),
    anyDropped: database.prepare(`SELECT 1 FROM ${runs} WHERE state = 'dropped' LIMIT 1`),
    separateRuns: database.prepare(`SELECT count(*) FROM ${runs} WHERE state = 'read' AND merges_into IS NULL`).pluck(),
    runCount: database.prepare(`SELECT count(*) FROM ${runs}`).pluck(),
    droppedSegments: database
      .prepare(
        `SELECT segment FROM ${segments} WHERE run IN (SELECT run FROM ${runs} WHERE state = 'dropped') LIMIT ? + 0`,
      )
      .pluck(),
    deleteBlocks: database.prepare(`DELETE FROM ${blocks} WHERE block >= ? AND block < ?`),
    deleteFilter: database.prepare(`DELETE FROM ${filters} WHERE segment = ?`),
    deleteSegment: database.prepare(`DELETE FROM ${segments} WHERE segment = ?`),
    deleteRuns: database.prepare(`DELETE FROM ${runs} WHERE state = 'dropped'`),
    anySegment: database.prepare(`SELECT 1 FROM ${segments} LIMIT 1`),
    deleteAll: [segments, filters, blocks].map((table) => database.prepare(`DELETE FROM ${table}`)),
  };
}
