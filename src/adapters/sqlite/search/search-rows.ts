import type { PageRequest, SearchPage, SearchPlan, WalkStep } from '../../../ports/search-plan.js';
import type { Stored } from '../../../projections/row-mac.js';
import type { TokenView } from '../../../projections/token-view.js';
import { databaseError } from '../database-error.js';
import { type TokenRow, viewOf } from '../token-row.js';
import { findSeqs } from './find-seqs.js';
import type { SearchConnections } from './search-connections.js';
import type { SearchStatements } from './search-statements.js';
import { walkSeqs } from './walk-seqs.js';

/** `TokenRows.search`: finds and reads the rows of a page as of one instant. */
export function searchRows(
  connections: SearchConnections,
  plan: SearchPlan,
  { now, offset, limit }: PageRequest,
): Promise<SearchPage> {
  return reading(connections, plan, async (statements) => {
    const { total, page } = await findSeqs(statements, plan, { offset, limit }, now);
    return { total, rows: rowsOf(statements, plan, page) };
  });
}

/** `TokenRows.walk`. */
export function walkRows(
  connections: SearchConnections,
  plan: SearchPlan,
  step: WalkStep,
): Promise<readonly Stored<TokenView>[]> {
  return reading(connections, plan, async (statements) =>
    rowsOf(statements, plan, await walkSeqs(statements, plan, step)),
  );
}

function rowsOf(
  { rows }: SearchStatements,
  { tenantId }: SearchPlan,
  seqs: readonly number[],
): readonly Stored<TokenView>[] {
  // Threat: a row of another tenant. Its terms are under another key; its column is looked at all the same.
  return (rows.all(JSON.stringify(seqs), tenantId) as TokenRow[]).map(viewOf);
}

async function reading<T>(
  connections: SearchConnections,
  { generation }: SearchPlan,
  read: (statements: SearchStatements) => Promise<T>,
): Promise<T> {
  try {
    return await connections.run(generation, read);
  } catch (error) {
    throw databaseError(error, 'vault.db');
  }
}
