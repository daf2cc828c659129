import type { Statement } from 'better-sqlite3';
import type { SqliteDatabase } from '../database/open-database.js';
import { ofBothSlots, rowTables, type Slot } from '../database/rows-schema.js';
import { termCountSql } from '../database/term-counts.js';
import { type PageStatements, pageStatements } from './page-rows.js';

/** Selects, in the given order, the tokens of a JSON array of `seq` that satisfy a condition. */
const among = 'SELECT p.value FROM json_each(@seqs) p WHERE';
const dated = (rows: string, column: string): string =>
  `${among} (SELECT 1 FROM ${rows} t WHERE t.seq = p.value AND t.${column} >= @from AND t.${column} < @to) IS NOT NULL`;
const between = (rows: string, column: string): string =>
  `SELECT seq FROM ${rows} WHERE ${column} >= @from AND ${column} < @to ORDER BY ${column} LIMIT @limit`;

type Columns = { readonly created_at: Statement; readonly modified_at: Statement };

/** The statements of one set of tables. Each returns one column, except `PageStatements`. */
export type SearchStatements = Readonly<
  Record<
    | 'keptCount'
    | 'countedCount'
    | 'page'
    | 'livingPage'
    | 'nthBefore'
    | 'postings'
    | 'amongTerm'
    | 'amongLiving'
    | 'dueCount'
    | 'dueWithTerm',
    Statement
  >
> &
  PageStatements & { readonly among: Columns; readonly between: Columns };

/** The statements of one connection. */
export type SearchConnection = {
  readonly begin: Statement;
  readonly commit: Statement;
  /** Returns the statements for the rows of a generation; null if it no longer exists. */
  of(generation: number): SearchStatements | null;
};

/**
 * Prepares every statement of search once for a connection. The caller determines the shape of a plan, and a statement
 * for each shape could neither be kept nor dropped (ADR 10). The statements use scalar subqueries, because SQLite turns
 * EXISTS into joins and chooses their order itself.
 */
export function prepareSearchStatements(database: SqliteDatabase): SearchConnection {
  const slotOf = database.prepare(`SELECT slot FROM generations WHERE generation = ? AND state <> 'dropping'`).pluck();
  const of = ofBothSlots((slot) => statementsOf(database, slot));
  return {
    begin: database.prepare('BEGIN'),
    commit: database.prepare('COMMIT'),
    of(generation) {
      const slot = slotOf.get(generation) as Slot | undefined;
      return slot === undefined ? null : of[slot];
    },
  };
}

function statementsOf(database: SqliteDatabase, slot: Slot): SearchStatements {
  const { rows, postings } = rowTables(slot);
  const counts = termCountSql(slot);
  const column = (sql: string): Statement => database.prepare(sql).pluck();
  return {
    keptCount: column(counts.kept),
    countedCount: column(counts.counted),
    /** Newest first. */
    page: column(`SELECT seq FROM ${postings} WHERE term = ? ORDER BY seq DESC LIMIT ? OFFSET ?`),
    livingPage: column(
      `SELECT p.seq FROM ${postings} p
       WHERE p.term = ? AND (SELECT 1 FROM ${rows} t WHERE t.seq = p.seq AND t.expires_at <= ?) IS NULL
       ORDER BY p.seq DESC LIMIT ? OFFSET ?`,
    ),
    /** Returns the `seq` of the nth posting before a `seq`. */
    nthBefore: column(`SELECT seq FROM ${postings} WHERE term = ? AND seq < ? ORDER BY seq DESC LIMIT 1 OFFSET ?`),
    postings: column(`SELECT seq FROM ${postings} WHERE term = ? AND seq >= ? AND seq < ? ORDER BY seq DESC`),
    amongTerm: column(`${among} (SELECT 1 FROM ${postings} q WHERE q.term = @term AND q.seq = p.value) IS NOT NULL`),
    amongLiving: column(`${among} (SELECT 1 FROM ${rows} t WHERE t.seq = p.value AND t.expires_at <= @now) IS NULL`),
    among: { created_at: column(dated(rows, 'created_at')), modified_at: column(dated(rows, 'modified_at')) },
    between: { created_at: column(between(rows, 'created_at')), modified_at: column(between(rows, 'modified_at')) },
    dueCount: column(`SELECT count(*) FROM (SELECT 1 FROM ${rows} WHERE expires_at <= ? LIMIT ?)`),
    dueWithTerm: column(
      `SELECT count(*) FROM ${rows} t
       WHERE t.expires_at <= ? AND (SELECT 1 FROM ${postings} q WHERE q.term = ? AND q.seq = t.seq) IS NOT NULL`,
    ),
    ...pageStatements(database, slot),
  };
}
