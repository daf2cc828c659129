import type Database from 'better-sqlite3';

/**
 * Changes a database as any program that can write to its file could. Removes the triggers that forbid the change, and
 * restores them afterwards, so the schema is unchanged.
 */
export function behindTriggers<T>(database: Database.Database, change: () => T): T {
  const select = database.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`);
  const transaction = database.transaction(() => {
    const triggers = select.all() as { readonly name: string; readonly sql: string }[];
    for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`);
    const changed = change();
    for (const { sql } of triggers) database.exec(sql);
    return changed;
  });
  // A running service can write at the same time. An immediate transaction waits for that write. A transaction that
  // began with a read could not wait, and would fail.
  return transaction.immediate();
}
