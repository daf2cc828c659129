import type { PageRequest, SearchPage, SearchPlan } from '../../../ports/search-plan.js';
import { databaseError } from '../database-error.js';
import { type TokenRow, tokenRowColumns, viewOf } from '../token-row.js';
import { findSeqs } from './find-seqs.js';
import type { SearchConnection, SearchConnections } from './search-connections.js';

/** `TokenRows.search`: finds and reads the rows of a page as of one instant. */
export async function searchRows(
  connections: SearchConnections,
  plan: SearchPlan,
  { now, offset, limit }: PageRequest,
): Promise<SearchPage> {
  try {
    return await connections.run(async (connection) => {
      const { total, page } = await findSeqs(connection, plan, { offset, limit }, now);
      return { total, rows: readRows(connection, page, plan.tenantId).map(viewOf) };
    });
  } catch (error) {
    throw databaseError(error, 'vault.db');
  }
}

/** Threat: a row of another tenant. Its terms are under another key; its column is looked at all the same. */
function readRows(connection: SearchConnection, seqs: readonly number[], tenantId: string): readonly TokenRow[] {
  const rows = connection.rows(
    `SELECT ${tokenRowColumns} FROM token_rows
     WHERE seq IN (SELECT value FROM json_each(?)) AND tenant = ? ORDER BY seq DESC`,
  );
  return rows.all(JSON.stringify(seqs), tenantId) as TokenRow[];
}
