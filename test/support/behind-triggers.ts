import type Database from 'better-sqlite3';

/**
 * Changes a database as a program may that can write to its file: the triggers that forbid it are gone meanwhile, and back
 * afterwards, so that its schema is as it was.
 */
export function behindTriggers<T>(database: Database.Database, change: () => T): T {
  const select = database.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`);
  return database.transaction(() => {
    const triggers = select.all() as { readonly name: string; readonly sql: string }[];
    for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`);
    const changed = change();
    for (const { sql } of triggers) database.exec(sql);
    return changed;
  })();
}
