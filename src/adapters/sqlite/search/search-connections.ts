import { GenerationDropped } from '../../../ports/generations.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { ofBothSlots } from '../database/rows-schema.js';
import { createIndexViews, type IndexView } from '../search-index/index-view.js';
import { prepareSearchStatements, type SearchConnection, type SearchStatements } from './search-statements.js';

const connectionsMax = 4;

/**
 * Creates a pool of connections for searches. A search keeps a read transaction open so that it sees the data in a
 * single state. A long search regularly lets other work run on the thread, and that work must not read inside the
 * search's transaction. The pool opens a connection when one is needed. After `connectionsMax` connections have been
 * opened, a search waits until a connection is free.
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
     * Runs `search` in a read transaction, so that the rows and the index of a generation are consistent with each
     * other. Throws GenerationDropped if the generation no longer exists.
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
