import type { Statement } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { SqliteDatabase } from '../open-database.js';

const connectionsMax = 4;
const statementsMax = 200;

/** A connection for one search at a time, with the statements it has prepared. */
export type SearchConnection = {
  readonly database: SqliteDatabase;
  /** The statement of this text, prepared once; it answers its first column. */
  column(sql: string): Statement;
  /** The same, answering whole rows. */
  rows(sql: string): Statement;
};

export type SearchConnections = ReturnType<typeof createSearchConnections>;

/**
 * Connections for searches. A search reads as of one instant, so it holds a read transaction, and a long one lets the
 * thread go in between: whatever else reads must not be inside it. Opened when needed; a search waits for a free one.
 */
export function createSearchConnections(open: () => SqliteDatabase) {
  const free: SearchConnection[] = [];
  const waiting: ((connection: SearchConnection) => void)[] = [];
  let opened = 0;

  function take(): SearchConnection | Promise<SearchConnection> {
    const connection = free.pop();
    if (connection !== undefined) return connection;
    if (opened === connectionsMax) return new Promise((resolve) => waiting.push(resolve));
    const made = connect(open());
    opened += 1;
    return made;
  }

  function give(connection: SearchConnection): void {
    const next = waiting.shift();
    if (next === undefined) free.push(connection);
    else next(connection);
  }

  return {
    /** Runs `search` inside a read transaction: it sees the data as of one instant. */
    async run<T>(search: (connection: SearchConnection) => Promise<T>): Promise<T> {
      const connection = await take();
      const { database } = connection;
      try {
        database.exec('BEGIN');
        return await search(connection);
      } finally {
        try {
          if (database.inTransaction) database.exec('COMMIT');
        } finally {
          give(connection);
        }
      }
    },
  };
}

function connect(database: SqliteDatabase): SearchConnection {
  const statements = new LRUCache<string, Statement>({ max: statementsMax });
  function prepared(sql: string): Statement {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  }

  return {
    database,
    column: (sql) => prepared(sql).pluck(),
    rows: (sql) => prepared(sql),
  };
}
