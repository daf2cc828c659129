import type { Budgets, Suspect } from '../../ports/budgets.js';
import type { SqliteDatabase } from './database/open-database.js';
import { reading } from './database/reading.js';
import type { Writer } from './writer/writer.js';

/** Implements `Budgets` on `vault.db`. */
export function sqliteBudgets(database: SqliteDatabase, writer: Writer): Budgets {
  const suspects = database.prepare(
    'SELECT application AS applicationId, suspect_at AS at FROM budgets WHERE suspect_at >= ? ORDER BY suspect_at DESC',
  );
  return {
    reserve: (name, applicationId, budget, request) =>
      writer.request('reserve_guesses', { name, applicationId, budget, request }),
    async suspects(since) {
      return reading(() => suspects.all(since) as Suspect[]);
    },
  };
}
