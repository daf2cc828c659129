import type { Statement } from 'better-sqlite3';
import { fitting, foundLife, type HeldRows, type PageRequest, type SearchPage } from '../../../ports/search-plan.js';
import type { Stored } from '../../../views/row-mac.js';
import type { TokenView } from '../../../views/token-view.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { streamName } from '../database/packed-text.js';
import { rowTables, type Slot } from '../database/rows-schema.js';
import {
  rowsWithCiphertexts,
  type StateColumns,
  stateColumns,
  stateOf,
  type TokenRow,
  viewColumns,
  viewOf,
} from '../database/token-row.js';

type Head = { readonly seq: number; readonly stream: string; readonly revision: number; readonly bytes: number };

/**
 * The statements that read the rows of a page. Their input is a JSON array of `seq` values, and they return the newest
 * row first.
 */
export type PageStatements = Readonly<Record<'heads' | 'rows' | 'states', Statement>>;

export function pageStatements(database: SqliteDatabase, slot: Slot): PageStatements {
  const { rows } = rowTables(slot);
  // Threat: a caller finds another tenant's row. Each tenant hashes its terms under a different key, so a search cannot
  // match such a row. Checking the tenant in these statements is a second line of defense.
  const reading = (columns: string): Statement =>
    database.prepare(
      `SELECT ${columns} FROM ${rowsWithCiphertexts(rows)}
       WHERE r.seq IN (SELECT value FROM json_each(?)) AND r.tenant = ? ORDER BY r.seq DESC`,
    );
  return {
    heads: reading(
      `r.seq, ${streamName('r.stream')} AS stream, r.revision, coalesce(length(content.content), 0) AS bytes`,
    ),
    rows: reading(viewColumns),
    states: reading(stateColumns),
  };
}

/**
 * Reads the rows of a page until the total size of their contents exceeds `contentBytesMax`. For each remaining row,
 * reads only its `life`. Does not read rows that the caller already has, because reading a row with its ciphertexts
 * takes five times as long as reading only its stream and revision.
 */
export function pageRows<H extends object = never>(
  statements: PageStatements,
  tenantId: string,
  seqs: readonly number[],
  { contentBytesMax, held, heldPage }: Pick<PageRequest, 'contentBytesMax'> & HeldRows<H>,
): Omit<SearchPage<Stored<TokenView> | H>, 'total'> {
  const page = heldPage?.(seqs);
  if (page !== undefined) return { rows: page, later: [] };
  const heads = statements.heads.all(JSON.stringify(seqs), tenantId) as Head[];
  const sizes = heads.map(({ bytes }) => bytes);
  const first = heads.slice(0, fitting(sizes, contentBytesMax));
  const known = new Map<number, H>();
  for (const { seq, stream, revision } of first) {
    const row = held?.(stream, revision);
    if (row !== undefined) known.set(seq, row);
  }
  const unknown = first.filter(({ seq }) => !known.has(seq)).map(({ seq }) => seq);
  const read = unknown.length === 0 ? [] : rowsOf(statements, tenantId, unknown);
  const bySeq = new Map(unknown.map((seq, index) => [seq, read[index]]));
  const rows = first.flatMap(({ seq }) => known.get(seq) ?? bySeq.get(seq) ?? []);
  if (first.length === heads.length) return { rows, later: [] };
  const others = heads.slice(first.length).map(({ seq }) => seq);
  const states = statements.states.all(JSON.stringify(others), tenantId) as StateColumns[];
  const later = states.map((row) => foundLife({ stream: row.stream, state: stateOf(row) }));
  return { rows, later };
}

export function rowsOf(
  { rows }: PageStatements,
  tenantId: string,
  seqs: readonly number[],
): readonly Stored<TokenView>[] {
  return (rows.all(JSON.stringify(seqs), tenantId) as TokenRow[]).map(viewOf);
}
