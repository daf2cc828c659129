import Database from 'better-sqlite3';

/**
 * Every database that this thread opened and every statement that it prepared. Node.js 24.19 and later end the process
 * if garbage collection of a better-sqlite3 12 object happens while no JavaScript is running (ADR 10), so this list
 * keeps all of them reachable. The list stays small: the program has a fixed number of statements, and a process opens
 * each database once.
 */
const kept: object[] = [];

/**
 * Opens a connection whose statements live as long as its thread. Do not call `iterate`, because its iterator would be
 * collected.
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

  /** Replaces the library's `pragma`, which leaves a statement for the garbage collector after each call. */
  database.pragma = (source: string, { simple = false }: Database.PragmaOptions = {}): unknown => {
    const statement = pragmas.get(source) ?? database.prepare(`PRAGMA ${source}`);
    pragmas.set(source, statement);
    if (!statement.reader) return statement.run();
    return simple ? statement.pluck(true).get() : statement.pluck(false).all();
  };

  kept.push(database);
  return database;
}
