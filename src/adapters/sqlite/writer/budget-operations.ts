import { type BudgetUse, type Reservation, reserveGuesses } from '../../../domain/guess-budget.js';
import type { SqliteDatabase } from '../open-database.js';
import type { WriterOperations } from './protocol.js';

type Row = Omit<BudgetUse, 'exhausted'> & { readonly exhausted: 0 | 1 };

/** Reserves guesses in `vault.db`, inside a savepoint of the group's transaction. */
export function createBudgetOperations(database: SqliteDatabase) {
  const find = database.prepare(
    `SELECT ends_at AS endsAt, used, hits, exhausted, suspect_at AS suspectAt FROM budgets
       WHERE name = ? AND application = ?`,
  );
  const save = database.prepare(
    `INSERT OR REPLACE INTO budgets (name, application, ends_at, used, hits, exhausted, suspect_at)
       VALUES (@name, @applicationId, @endsAt, @used, @hits, @exhausted, @suspectAt)`,
  );
  return {
    reserve_guesses({
      name,
      applicationId,
      budget,
      request,
    }: WriterOperations['reserve_guesses']['input']): Reservation {
      const row = find.get(name, applicationId) as Row | undefined;
      const stored = row === undefined ? null : { ...row, exhausted: row.exhausted === 1 };
      const { after, reservation } = reserveGuesses(stored, budget, request);
      save.run({ name, applicationId, ...after, exhausted: after.exhausted ? 1 : 0 });
      return reservation;
    },
  };
}
