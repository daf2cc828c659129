import type { PageRequest, SearchPage, SearchPlan } from '../../../ports/search-plan.js';
import { databaseError } from '../database-error.js';
import { type TokenRow, viewOf } from '../token-row.js';
import { findSeqs } from './find-seqs.js';
import type { SearchConnections } from './search-connections.js';

/** `TokenRows.search`: finds and reads the rows of a page as of one instant. */
export async function searchRows(
  connections: SearchConnections,
  plan: SearchPlan,
  { now, offset, limit }: PageRequest,
): Promise<SearchPage> {
  try {
    return await connections.run(async (statements) => {
      const { total, page } = await findSeqs(statements, plan, { offset, limit }, now);
      // Threat: a row of another tenant. Its terms are under another key; its column is looked at all the same.
      const rows = statements.rows.all(JSON.stringify(page), plan.tenantId) as TokenRow[];
      return { total, rows: rows.map(viewOf) };
    });
  } catch (error) {
    throw databaseError(error, 'vault.db');
  }
}
