import type { Statement } from 'better-sqlite3';
import type { SqliteDatabase } from '../open-database.js';
import { termCountSql } from '../term-counts.js';

/** Those of some tokens, given as a JSON array of `seq`, that a look-up finds; in the order given. */
const among = 'SELECT p.value FROM json_each(@seqs) p WHERE';
const dated = (column: string): string =>
  `${among} (SELECT 1 FROM token_rows t WHERE t.seq = p.value AND t.${column} >= @from AND t.${column} < @to) IS NOT NULL`;
const between = (column: string): string =>
  `SELECT seq FROM token_rows WHERE ${column} >= @from AND ${column} < @to ORDER BY ${column} LIMIT @limit`;

type Columns = { readonly created_at: Statement; readonly modified_at: Statement };

/** But for `rows`, each answers one column. */
export type SearchStatements = Readonly<
  Record<
    | 'begin'
    | 'commit'
    | 'keptCount'
    | 'countedCount'
    | 'page'
    | 'livingPage'
    | 'nthBefore'
    | 'postings'
    | 'amongTerm'
    | 'amongLiving'
    | 'dueCount'
    | 'dueWithTerm'
    | 'rows',
    Statement
  >
> & { readonly among: Columns; readonly between: Columns };

/**
 * Every statement of search, prepared once for a connection: the shape of a plan is the caller's, and a statement for
 * each shape could neither be kept nor dropped (ADR 10). Scalar subqueries, because SQLite turns EXISTS into joins,
 * whose order it would choose by itself.
 */
export function prepareSearchStatements(database: SqliteDatabase): SearchStatements {
  const column = (sql: string): Statement => database.prepare(sql).pluck();
  return {
    begin: database.prepare('BEGIN'),
    commit: database.prepare('COMMIT'),
    keptCount: column(termCountSql.kept),
    countedCount: column(termCountSql.counted),
    /** Newest first. */
    page: column('SELECT seq FROM postings WHERE term = ? ORDER BY seq DESC LIMIT ? OFFSET ?'),
    livingPage: column(
      `SELECT p.seq FROM postings p
       WHERE p.term = ? AND (SELECT 1 FROM token_rows t WHERE t.seq = p.seq AND t.expires_at <= ?) IS NULL
       ORDER BY p.seq DESC LIMIT ? OFFSET ?`,
    ),
    /** The place of the nth posting before a `seq`. */
    nthBefore: column('SELECT seq FROM postings WHERE term = ? AND seq < ? ORDER BY seq DESC LIMIT 1 OFFSET ?'),
    postings: column('SELECT seq FROM postings WHERE term = ? AND seq >= ? AND seq < ? ORDER BY seq DESC'),
    amongTerm: column(`${among} (SELECT 1 FROM postings q WHERE q.term = @term AND q.seq = p.value) IS NOT NULL`),
    amongLiving: column(`${among} (SELECT 1 FROM token_rows t WHERE t.seq = p.value AND t.expires_at <= @now) IS NULL`),
    among: { created_at: column(dated('created_at')), modified_at: column(dated('modified_at')) },
    between: { created_at: column(between('created_at')), modified_at: column(between('modified_at')) },
    dueCount: column('SELECT count(*) FROM (SELECT 1 FROM token_rows WHERE expires_at <= ? LIMIT ?)'),
    dueWithTerm: column(
      `SELECT count(*) FROM token_rows t
       WHERE t.expires_at <= ? AND (SELECT 1 FROM postings q WHERE q.term = ? AND q.seq = t.seq) IS NOT NULL`,
    ),
    rows: database.prepare(
      `SELECT stream, tenant, state, content, cvc FROM token_rows
       WHERE seq IN (SELECT value FROM json_each(?)) AND tenant = ? ORDER BY seq DESC`,
    ),
  };
}
