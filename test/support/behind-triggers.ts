import type Database from 'better-sqlite3';

/**
 * Changes a database as any program with write access to its file can. Removes the triggers that forbid the change and
 * restores them afterwards, so that the schema is unchanged.
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
  // A running service may write at the same moment. A transaction that began with a read would fail then, because it
  // could not wait for that write.
  return transaction.immediate();
}
