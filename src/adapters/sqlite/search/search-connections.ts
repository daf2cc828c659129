import type { SqliteDatabase } from '../open-database.js';
import { prepareSearchStatements, type SearchStatements } from './search-statements.js';

const connectionsMax = 4;

/**
 * Connections for searches. A search reads as of one instant, so it holds a read transaction, and a long one lets the
 * thread go in between: whatever else reads must not be inside it. Opened when needed; a search waits for a free one.
 */
export function createSearchConnections(open: () => SqliteDatabase) {
  const free: SearchStatements[] = [];
  const waiting: ((statements: SearchStatements) => void)[] = [];
  let opened = 0;

  function take(): SearchStatements | Promise<SearchStatements> {
    const statements = free.pop();
    if (statements !== undefined) return statements;
    if (opened === connectionsMax) return new Promise((resolve) => waiting.push(resolve));
    const made = prepareSearchStatements(open());
    opened += 1;
    return made;
  }

  function give(statements: SearchStatements): void {
    const next = waiting.shift();
    if (next === undefined) free.push(statements);
    else next(statements);
  }

  return {
    /** Runs `search` inside a read transaction: it sees the data as of one instant. */
    async run<T>(search: (statements: SearchStatements) => Promise<T>): Promise<T> {
      const statements = await take();
      const { database } = statements.begin;
      try {
        statements.begin.run();
        return await search(statements);
      } finally {
        try {
          if (database.inTransaction) statements.commit.run();
        } finally {
          give(statements);
        }
      }
    },
  };
}

export type SearchConnections = ReturnType<typeof createSearchConnections>;
