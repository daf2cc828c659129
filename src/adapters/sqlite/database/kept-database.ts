import Database from 'better-sqlite3';

/**
 * Everything that this thread ever opened or prepared. Node.js 24.19 and later end the process when the garbage
 * collector takes an object of better-sqlite3 12 outside of JavaScript (ADR 10), so none is ever garbage. There are as
 * many as the program has statements; a database is opened once in the life of a process.
 */
const kept: object[] = [];

/** A connection whose statements live as long as its thread. Do not `iterate`: an iterator would be garbage. */
export function keptDatabase(path: string, options: Database.Options): Database.Database {
  const database = new Database(path, options);
  const prepare = database.prepare.bind(database);
  const pragmas = new Map<string, Database.Statement>();

  database.prepare = ((sql: string) => {
    const statement = prepare(sql);
    kept.push(statement);
    return statement;
  }) as Database.Database['prepare'];

  /** As the library's, which leaves a statement as garbage after each call. */
  database.pragma = (source: string, { simple = false }: Database.PragmaOptions = {}): unknown => {
    const statement = pragmas.get(source) ?? database.prepare(`PRAGMA ${source}`);
    pragmas.set(source, statement);
    if (!statement.reader) return statement.run();
    return simple ? statement.pluck(true).get() : statement.pluck(false).all();
  };

  kept.push(database);
  return database;
}
