import Database from 'better-sqlite3';

/**
 * All databases that this thread has opened and all statements that it has prepared. The list prevents them from being
 * garbage-collected. Node.js 24.19 and later terminate the process if a better-sqlite3 12 object is collected while no
 * JavaScript is running (ADR 10). The program prepares each of its statements once for each open database. The list
 * therefore grows only when a database is opened again, even if it has been closed. A file that may be opened again and
 * again, for example because it is damaged, must be opened with growing pauses (`pause-after-failure.ts`).
 */
const kept: object[] = [];
/**
 * A limit that is only a parameter. Because the value of the limit can influence the query plan, SQLite parses and
 * plans such a statement again on every execution, which takes longer than the execution itself. A limit that is an
 * expression (`LIMIT ? + 0`) does not influence the plan.
 */
const plannedLimit = /\bLIMIT\s+[?@:$]\w*(?!\w|\s*\+)/i;

/**
 * Opens a connection whose statements live as long as its thread. Do not call `iterate` on a statement, because the
 * iterator would be garbage-collected.
 */
export function pinStatements(path: string, options: Database.Options): Database.Database {
  const database = new Database(path, options);
  const prepare = database.prepare.bind(database);
  const pragmas = new Map<string, Database.Statement>();

  database.prepare = ((sql: string) => {
    if (plannedLimit.test(sql)) throw new Error(`a limit that is only a parameter is slow; add zero to it: ${sql}`);
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
