import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { databaseError, StoreBroken } from './database-error.js';
import type { SqliteDatabase } from './open-database.js';
import { expectSchema } from './prepare-file.js';

export type Attempt =
  | { readonly ok: true; readonly answer: unknown }
  /**
   * The command failed. If `error` is a StoreUnavailable, a later attempt might succeed. Any other error means that the
   * command can never be stored.
   */
  | { readonly ok: false; readonly error: Error };

const notRun: Attempt = { ok: false, error: new Error('the command was not run') };

export type GroupCommit = ReturnType<typeof createGroupCommit>;

/**
 * Runs many commands in one transaction, each in its own savepoint, and makes them durable with one commit. If a
 * command cannot be stored, the other commands are not affected. Throws only if the file can no longer be used. A
 * changed schema also makes the file unusable, because the vault never changes the schema while it runs.
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
      const translated = databaseError(error, fileName, database.name);
      // If the disk is full, SQLite may have rolled back the whole transaction. In that case, the whole group fails.
      if (translated instanceof StoreBroken || !database.inTransaction) throw translated;
      undo.run();
      release.run();
      return { ok: false, error: translated };
    }
  }

  function asUnavailable(error: unknown): StoreUnavailable {
    const translated = databaseError(error, fileName, database.name);
    if (translated instanceof StoreUnavailable) return translated;
    throw translated;
  }

  /**
   * Takes commands from `works` one at a time, so the caller can still add commands or end the group while the group
   * runs. Calls `seal` inside the transaction, just before the commit.
   */
  return function run(
    works: Iterable<() => unknown>,
    seal: (attempts: readonly Attempt[]) => void = () => undefined,
  ): readonly Attempt[] {
    const attempts: Attempt[] = [];
    let hasBegun = false;
    try {
      for (const work of works) {
        // Adds a placeholder before the command runs, so that this command is also reported as failed if the whole
        // transaction fails.
        const index = attempts.push(notRun) - 1;
        if (!hasBegun) {
          begin.run();
          expectOurs();
          hasBegun = true;
        }
        attempts[index] = attempt(work);
      }
      if (hasBegun) {
        seal(attempts);
        commit.run();
      }
      return attempts;
    } catch (error) {
      if (database.inTransaction) rollback.run();
      const unavailable = asUnavailable(error);
      return attempts.map(() => ({ ok: false, error: unavailable }));
    }
  };
}

/** Runs a single command in its own transaction. */
export function commitAlone(commit: GroupCommit, work: () => unknown): Attempt {
  const [attempt = notRun] = commit([work]);
  return attempt;
}
