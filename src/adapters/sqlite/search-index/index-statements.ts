import type { Statement } from 'better-sqlite3';
import type { SqliteDatabase } from '../database/open-database.js';
import { rowTables, type Slot } from '../database/rows-schema.js';
import { blocksOfSegment, checked, IndexDamaged, termBytes, termsOfChange } from './entries.js';

/**
 * The progress of one generation's index. `last` is the number of the newest change. All postings added by changes up
 * to `merged` are in runs. All postings removed by changes up to `erased` have been erased from the runs.
 */
export type IndexState = {
  readonly merged: number;
  readonly erased: number;
  /** Increases with every transaction that changes the runs. */
  readonly version: number;
  readonly last: number;
};

export type RunRow = {
  readonly run: number;
  readonly level: number;
  readonly state: 'building' | 'read';
  readonly into: number | null;
  readonly version: number;
  readonly seqMin: number;
  readonly seqMax: number;
};

export type SegmentRow = { readonly segment: number; readonly version: number; readonly fences: Buffer };

/** The terms added to a token and those removed from it by a commit. Each term is 16 bytes long. */
export type ChangeRow = {
  readonly number: number;
  readonly seq: number;
  readonly added: Buffer | null;
  readonly removed: Buffer | null;
};

export type IndexStatements = ReturnType<typeof indexStatements>;

/** Prepares the statements that one connection uses to read the index of a generation. */
export function indexStatements(database: SqliteDatabase, slot: Slot) {
  const { changes, indexState, runs, segments, filters, blocks } = rowTables(slot);
  const state = database.prepare(
    `SELECT merged, erased, version, max(merged, ifnull((SELECT max(number) FROM ${changes}), 0)) AS last
     FROM ${indexState}`,
  );
  const runRows = database.prepare(
    `SELECT run, level, state, merges_into AS "into", version, seq_min AS seqMin, seq_max AS seqMax
     FROM ${runs} WHERE state <> 'dropped' ORDER BY run DESC`,
  );
  const segmentRows = database.prepare(
    `SELECT segment, version, fences FROM ${segments} WHERE run = ? AND version > ? ORDER BY segment`,
  );
  const changesAfter = database.prepare(
    `SELECT number, seq, added, removed FROM ${changes} WHERE number > ? ORDER BY number LIMIT ? + 0`,
  );
  const filter: Statement = database.prepare(`SELECT filter FROM ${filters} WHERE segment = ?`).pluck();
  const block: Statement = database.prepare(`SELECT entries FROM ${blocks} WHERE block = ?`).pluck();
  return {
    state: (): IndexState => state.get() as IndexState,
    runs: (): readonly RunRow[] => runRows.all() as RunRow[],
    segmentsAfter: (run: number, version: number): readonly SegmentRow[] =>
      segmentRows.all(run, version) as SegmentRow[],
    changesAfter: (number: number, limit = -1): readonly ChangeRow[] =>
      (changesAfter.all(number, limit) as ChangeRow[]).map(openChange),
    filterOf: (segment: number): Buffer => checked(filter.get(segment), `the filter of segment ${segment}`),
    block: (id: number): Buffer => checked(block.get(id), blockName(id)),
  };
}

/** Returns a stored change with its decoded terms. Throws IndexDamaged if the change is damaged. */
export function openChange({ number, seq, added, removed }: ChangeRow): ChangeRow {
  return { number, seq, added: termsOfChange(added, number, seq), removed: termsOfChange(removed, number, seq) };
}

/** Throws IndexDamaged if a change is missing between change number `after` and the last change in `changes`. */
export function expectSuccession(changes: readonly ChangeRow[], after: number): void {
  let last = after;
  for (const { number, added, removed } of changes) {
    last += ((added?.length ?? 0) + (removed?.length ?? 0)) / termBytes;
    if (number !== last) throw new IndexDamaged(`a change before change ${number} is missing`);
  }
}

export function blockName(id: number): string {
  return `block ${id % blocksOfSegment} of segment ${Math.floor(id / blocksOfSegment)}`;
}
