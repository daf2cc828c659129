import type { Driver } from './choose-driver.js';
import type { Condition } from './compile-condition.js';
import type { Found, Wanted } from './found.js';
import type { SearchConnection } from './search-connections.js';
import type { WeighedNode } from './weighed-plan.js';

type DateNode = Extract<WeighedNode, { is: 'date' }>;

/** As many tokens are checked in one go without holding anything up. */
const seqsMax = 2_000;

/** The tokens of a short range of dates that every match lies in, of any tenant; null when no range is short. */
export function seqsByDate(
  connection: SearchConnection,
  node: WeighedNode,
  driverCount: number,
): readonly number[] | null {
  if (driverCount <= seqsMax) return null;
  const dates = node.is === 'and' ? node.of.filter((child) => child.is === 'date') : node.is === 'date' ? [node] : [];
  for (const date of dates) {
    const seqs = shortRange(connection, date);
    if (seqs !== null) return seqs;
  }
  return null;
}

function shortRange(connection: SearchConnection, { column, from, to }: DateNode): readonly number[] | null {
  const statement = connection.column(
    `SELECT seq FROM token_rows WHERE ${column} >= ? AND ${column} < ? ORDER BY ${column} LIMIT ${seqsMax + 1}`,
  );
  const seqs = statement.all(from ?? Number.MIN_SAFE_INTEGER, to ?? Number.MAX_SAFE_INTEGER) as number[];
  return seqs.length > seqsMax ? null : seqs;
}

/** Those of some tokens that have a term of the driver, which keeps them to one tenant, and meet the condition. */
export function checkSeqs(
  connection: SearchConnection,
  seqs: readonly number[],
  { terms }: Driver,
  condition: Condition,
  { offset, limit }: Wanted,
): Found {
  const marks = terms.map(() => '?').join();
  const matching = connection.column(
    `SELECT p.seq FROM (SELECT value AS seq FROM json_each(?)) p
     WHERE (SELECT 1 FROM postings q WHERE q.term IN (${marks}) AND q.seq = p.seq LIMIT 1) IS NOT NULL
       AND ${condition.sql} ORDER BY p.seq DESC`,
  );
  const found = matching.all(JSON.stringify(seqs), ...terms, ...condition.values) as number[];
  return { total: found.length, page: found.slice(offset, offset + limit) };
}
