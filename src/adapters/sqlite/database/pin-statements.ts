import Database from 'better-sqlite3';

/**
 * All databases that this thread has opened and all statements that it has prepared. The list prevents them from being
 * garbage-collected. Node.js 24.19 and later terminate the process if a better-sqlite3 12 object is collected while no
 * JavaScript is running (ADR 10). The list stays small, because the program prepares each of its statements once for
 * each open database. It grows only when a database is opened again, for example after a failure.
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
