import type { Condition } from './compile-condition.js';
import type { SearchConnection } from './search-connections.js';

/** So few due rows that counting the matches among them is nothing. */
const fewMax = 1_000;

/** How many rows of the store are due at `now` and not yet swept: mostly none. */
export function countDue(connection: SearchConnection, now: number): 'none' | 'few' | 'many' {
  const found = connection
    .column('SELECT count(*) FROM (SELECT 1 FROM token_rows WHERE expires_at <= ? LIMIT ?)')
    .get(now, fewMax + 1);
  if (found === 0) return 'none';
  return Number(found) <= fewMax ? 'few' : 'many';
}

/** The condition that a token is not due. */
export function notDue(now: number): Condition {
  return { sql: '((SELECT 1 FROM token_rows d WHERE d.seq = p.seq AND d.expires_at <= ?) IS NULL)', values: [now] };
}

/** How many tokens with a term are due. */
export function countDueWith(connection: SearchConnection, term: Buffer, now: number): number {
  const sql = `SELECT count(*) FROM token_rows d
    WHERE d.expires_at <= ? AND (SELECT 1 FROM postings q WHERE q.term = ? AND q.seq = d.seq) IS NOT NULL`;
  return Number(connection.column(sql).get(now, term));
}
