import { GenerationDropped } from '../../../ports/generations.js';
import type { SearchPlan } from '../../../ports/search-plan.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { ofBothSlots } from '../database/rows-schema.js';
import { createIndexViews, type IndexView } from '../search-index/index-view.js';
import { createSearchPace, type RunSteps } from './search-pace.js';
import { prepareSearchStatements, type SearchConnection, type SearchStatements } from './search-statements.js';

const connectionsMax = 4;
/** Threat: if long searches of one tenant used all connections, the searches of other tenants would wait for them. */
const connectionsOfTenantMax = 3;

type Waiting = { readonly tenantId: string; readonly proceed: (connection: SearchConnection) => void };

/**
 * Creates a pool of connections for searches. A search keeps a read transaction open so that it sees the data in a
 * single state. A long search regularly lets other work run on the thread, and that work must not read inside the
 * search's transaction. The pool opens a connection when one is needed. After `connectionsMax` connections have been
 * opened, a search waits until a connection is free.
 */
export function createSearchConnections(open: () => SqliteDatabase) {
  const free: SearchConnection[] = [];
  const waiting: Waiting[] = [];
  /** The number of connections that each tenant's searches use. */
  const used = new Map<string, number>();
  const views = ofBothSlots(() => createIndexViews());
  const begin = createSearchPace();
  let opened = 0;

  function mayUseMore(tenantId: string): boolean {
    return (used.get(tenantId) ?? 0) < connectionsOfTenantMax;
  }

  function note(tenantId: string, change: 1 | -1): void {
    const count = (used.get(tenantId) ?? 0) + change;
    if (count === 0) used.delete(tenantId);
    else used.set(tenantId, count);
  }

  function take(tenantId: string): SearchConnection | Promise<SearchConnection> {
    if (!mayUseMore(tenantId) || (free.length === 0 && opened === connectionsMax)) {
      return new Promise((resolve) => waiting.push({ tenantId, proceed: resolve }));
    }
    let connection = free.pop();
    if (connection === undefined) {
      connection = prepareSearchStatements(open());
      opened += 1;
    }
    note(tenantId, 1);
    return connection;
  }

  function give(connection: SearchConnection, tenantId: string): void {
    note(tenantId, -1);
    const next = waiting.findIndex((search) => mayUseMore(search.tenantId));
    const [search] = next < 0 ? [] : waiting.splice(next, 1);
    if (search === undefined) {
      free.push(connection);
      return;
    }
    note(search.tenantId, 1);
    search.proceed(connection);
  }

  return {
    /**
     * Runs `search` in a read transaction, so that the rows and the index of a generation are consistent with each
     * other. Throws GenerationDropped if the generation no longer exists.
     */
    async run<T>(
      { tenantId, generation }: Pick<SearchPlan, 'tenantId' | 'generation'>,
      search: (statements: SearchStatements, index: IndexView, runSteps: RunSteps) => Promise<T>,
    ): Promise<T> {
      const connection = await take(tenantId);
      const { database } = connection.begin;
      try {
        connection.begin.run();
        const found = connection.of(generation);
        if (found === null) throw new GenerationDropped('vault.db');
        const { slot, statements } = found;
        return await search(statements, views[slot].viewOf(statements.index), begin());
      } finally {
        try {
          if (database.inTransaction) connection.commit.run();
        } finally {
          give(connection, tenantId);
        }
      }
    },
  };
}

export type SearchConnections = ReturnType<typeof createSearchConnections>;
