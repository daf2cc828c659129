import { GenerationDropped } from '../../../ports/generations.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { ofBothSlots } from '../database/rows-schema.js';
import { createIndexViews, type IndexView } from '../search-index/index-view.js';
import { prepareSearchStatements, type SearchConnection, type SearchStatements } from './search-statements.js';

const connectionsMax = 4;

/**
 * Creates the connection pool for searches. A search reads as of one instant, so it keeps a read transaction open, and
 * a long search yields the thread now and then. Other reads must not run inside that transaction. The pool opens
 * connections when needed. At its limit, a search waits for a free connection.
 */
export function createSearchConnections(open: () => SqliteDatabase) {
  const free: SearchConnection[] = [];
  const waiting: ((connection: SearchConnection) => void)[] = [];
  const views = ofBothSlots(() => createIndexViews());
  let opened = 0;

  function take(): SearchConnection | Promise<SearchConnection> {
    const connection = free.pop();
    if (connection !== undefined) return connection;
    if (opened === connectionsMax) return new Promise((resolve) => waiting.push(resolve));
    const made = prepareSearchStatements(open());
    opened += 1;
    return made;
  }

  function give(connection: SearchConnection): void {
    const next = waiting.shift();
    if (next === undefined) free.push(connection);
    else next(connection);
  }

  return {
    /**
     * Runs `search` inside a read transaction, where it sees a generation's rows and index as of one instant. Throws
     * GenerationDropped if the generation no longer exists.
     */
    async run<T>(
      generation: number,
      search: (statements: SearchStatements, index: IndexView) => Promise<T>,
    ): Promise<T> {
      const connection = await take();
      const { database } = connection.begin;
      try {
        connection.begin.run();
        const found = connection.of(generation);
        if (found === null) throw new GenerationDropped('vault.db');
        const { slot, statements } = found;
        return await search(statements, views[slot].viewOf(statements.index));
      } finally {
        try {
          if (database.inTransaction) connection.commit.run();
        } finally {
          give(connection);
        }
      }
    },
  };
}

export type SearchConnections = ReturnType<typeof createSearchConnections>;
