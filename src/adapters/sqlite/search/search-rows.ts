import type { TokenState } from '../../../domain/token/token-state.js';
import {
  fitting,
  foundLife,
  type PageRequest,
  type SearchPage,
  type SearchPlan,
  type WalkStep,
} from '../../../ports/search-plan.js';
import type { Stored } from '../../../projections/row-mac.js';
import type { TokenView } from '../../../projections/token-view.js';
import { databaseError } from '../database-error.js';
import { type TokenRow, viewOf } from '../token-row.js';
import { findSeqs } from './find-seqs.js';
import type { SearchConnections } from './search-connections.js';
import type { SearchStatements } from './search-statements.js';
import { walkSeqs } from './walk-seqs.js';

type RowState = Pick<TokenRow, 'stream' | 'state'>;

/** `TokenRows.search`: finds and reads the rows of a page as of one instant. */
export function searchRows(
  connections: SearchConnections,
  plan: SearchPlan,
  { now, offset, limit, contentBytesMax }: PageRequest,
): Promise<SearchPage> {
  return reading(connections, plan, async (statements) => {
    const { total, page } = await findSeqs(statements, plan, { offset, limit }, now);
    if (contentBytesMax === undefined) return { total, rows: rowsOf(statements, plan, page), later: [] };
    const asked = JSON.stringify(page);
    const sizes = statements.contentSizes.all(asked, plan.tenantId) as number[];
    const first = fitting(sizes, contentBytesMax);
    const rows = rowsOf(statements, plan, page.slice(0, first));
    if (first === sizes.length) return { total, rows, later: [] };
    const states = statements.states.all(JSON.stringify(page.slice(first)), plan.tenantId) as RowState[];
    const later = states.map(({ stream, state }) => foundLife({ stream, state: JSON.parse(state) as TokenState }));
    return { total, rows, later };
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
