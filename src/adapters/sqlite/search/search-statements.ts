import type { Statement } from 'better-sqlite3';
import type { SqliteDatabase } from '../database/open-database.js';
import { ofBothSlots, rowTables, type Slot } from '../database/rows-schema.js';
import { type IndexStatements, indexStatements } from '../search-index/index-statements.js';
import { type PageStatements, pageStatements } from './page-rows.js';

/**
 * The beginning of a statement that selects tokens by a condition. The input is a JSON array of `seq` values, and the
 * result has the same order.
 */
const among = 'SELECT p.value FROM json_each(@seqs) p WHERE';
const dated = (rows: string, column: string): string =>
  `${among} (SELECT 1 FROM ${rows} t WHERE t.seq = p.value AND t.${column} >= @from AND t.${column} < @to) IS NOT NULL`;
const between = (rows: string, column: string): string =>
  `SELECT seq FROM ${rows} WHERE ${column} >= @from AND ${column} < @to ORDER BY ${column} LIMIT @limit + 0`;

type Columns = { readonly created_at: Statement; readonly modified_at: Statement };

/**
 * The search statements for one set of tables. Each statement returns a single column, except for those in
 * `PageStatements`.
 */
export type SearchStatements = Readonly<Record<'amongLiving' | 'due', Statement>> &
  PageStatements & { readonly among: Columns; readonly between: Columns; readonly index: IndexStatements };

/** The search statements that are prepared on one connection. */
export type SearchConnection = {
  readonly begin: Statement;
  readonly commit: Statement;
  /**
   * Returns the set of tables that contains a generation, with the statements for these tables. Returns null if the
   * generation no longer exists.
   */
  of(generation: number): { readonly slot: Slot; readonly statements: SearchStatements } | null;
};

/**
 * Prepares every search statement once per connection. There is no separate statement for each shape of plan, because
 * callers can request any number of shapes and a prepared statement cannot be released (ADR 10). The statements use
 * scalar subqueries instead of EXISTS, because SQLite turns EXISTS into a join and then chooses the join order itself.
 */
export function prepareSearchStatements(database: SqliteDatabase): SearchConnection {
  const slotOf = database.prepare(`SELECT slot FROM generations WHERE generation = ? AND state <> 'dropping'`).pluck();
  const of = ofBothSlots((slot) => statementsOf(database, slot));
  return {
    begin: database.prepare('BEGIN'),
    commit: database.prepare('COMMIT'),
    of(generation) {
      const slot = slotOf.get(generation) as Slot | undefined;
      return slot === undefined ? null : { slot, statements: of[slot] };
    },
  };
}

function statementsOf(database: SqliteDatabase, slot: Slot): SearchStatements {
  const { rows } = rowTables(slot);
  const column = (sql: string): Statement => database.prepare(sql).pluck();
  return {
    index: indexStatements(database, slot),
    amongLiving: column(`${among} (SELECT 1 FROM ${rows} t WHERE t.seq = p.value AND t.expires_at <= @now) IS NULL`),
    among: { created_at: column(dated(rows, 'created_at')), modified_at: column(dated(rows, 'modified_at')) },
    between: { created_at: column(between(rows, 'created_at')), modified_at: column(between(rows, 'modified_at')) },
    /** Selects the tokens that are due, in no particular order. */
    due: column(`SELECT seq FROM ${rows} WHERE expires_at <= ? AND seq IS NOT NULL LIMIT ? + 0`),
    ...pageStatements(database, slot),
  };
}
