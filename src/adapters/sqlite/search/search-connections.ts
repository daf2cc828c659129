import { GenerationDropped } from '../../../ports/generations.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { ofBothSlots } from '../database/rows-schema.js';
import { createIndexViews, type IndexView } from '../search-index/index-view.js';
import { prepareSearchStatements, type SearchConnection, type SearchStatements } from './search-statements.js';

const connectionsMax = 4;

/**
 * Creates a pool of connections for searches. A search must see the data in a single state, so it keeps a read
 * transaction open. A long search repeatedly lets other work run on the thread, and this work must not read inside that
 * transaction. The pool opens connections when they are needed. When it has reached its limit, a search waits for a
 * free connection.
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
     * Runs `search` inside a read transaction, in which it sees the rows and the index of a generation in the same
     * state. Throws GenerationDropped if the generation no longer exists.
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
