import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { databaseError, StoreBroken } from './database-error.js';
import type { SqliteDatabase } from './open-database.js';
import { expectSchema } from './prepare-file.js';

export type Attempt =
  | { readonly ok: true; readonly answer: unknown }
  /** StoreUnavailable, or any other error for a command that can never be stored. */
  | { readonly ok: false; readonly error: Error };

/**
 * Runs many commands in one transaction, each in a savepoint of its own, and makes them durable with one commit. A
 * command that cannot be stored takes no other one with it. Throws only what leaves the file unusable, among it another
 * schema: the vault changes none while it runs.
 */
export function createGroupCommit(database: SqliteDatabase, fileName: string, schema: string) {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  const savepoint = database.prepare('SAVEPOINT command');
  const release = database.prepare('RELEASE command');
  const undo = database.prepare('ROLLBACK TO command');
  const schemaVersion = database.prepare('PRAGMA schema_version').pluck();
  let expectedVersion = schemaVersion.get();

  function expectOurs(): void {
    const version = schemaVersion.get();
    if (version === expectedVersion) return;
    expectSchema(database, fileName, schema);
    expectedVersion = version;
  }

  function attempt(work: () => unknown): Attempt {
    savepoint.run();
    try {
      const answer = work();
      release.run();
      return { ok: true, answer };
    } catch (error) {
      const translated = databaseError(error, fileName);
      // A full disk can make SQLite end the whole transaction by itself.
      if (translated instanceof StoreBroken || !database.inTransaction) throw translated;
      undo.run();
      release.run();
      return { ok: false, error: translated };
    }
  }

  function asUnavailable(error: unknown): StoreUnavailable {
    const translated = databaseError(error, fileName);
    if (translated instanceof StoreUnavailable) return translated;
    throw translated;
  }

  return function run(works: readonly (() => unknown)[]): readonly Attempt[] {
    try {
      begin.run();
      expectOurs();
      const attempts = works.map(attempt);
      commit.run();
      return attempts;
    } catch (error) {
      if (database.inTransaction) rollback.run();
      const unavailable = asUnavailable(error);
      return works.map(() => ({ ok: false, error: unavailable }));
    }
  };
}
