import Database from 'better-sqlite3';

/**
 * Every database that this thread opened and every statement that it prepared. This list keeps them from being
 * garbage-collected. If a better-sqlite3 12 object is collected while no JavaScript is running, Node.js 24.19 and later
 * terminate the process (ADR 10). The list stays small, because the program has a fixed number of statements and a
 * process opens each database once.
 */
const kept: object[] = [];

/**
 * Opens a connection whose statements live as long as its thread. Do not call `iterate` on a statement, because the
 * iterator would be garbage-collected.
 */
export function pinStatements(path: string, options: Database.Options): Database.Database {
  const database = new Database(path, options);
  const prepare = database.prepare.bind(database);
  const pragmas = new Map<string, Database.Statement>();

  database.prepare = ((sql: string) => {
    const statement = prepare(sql);
    kept.push(statement);
    return statement;
  }) as Database.Database['prepare'];

  /**
   * Replaces better-sqlite3's `pragma`, which creates a statement on each call and leaves it to the garbage collector.
   */
  database.pragma = (source: string, { simple = false }: Database.PragmaOptions = {}): unknown => {
    const statement = pragmas.get(source) ?? database.prepare(`PRAGMA ${source}`);
    pragmas.set(source, statement);
    if (!statement.reader) return statement.run();
    return simple ? statement.pluck(true).get() : statement.pluck(false).all();
  };

  kept.push(database);
  return database;
}
