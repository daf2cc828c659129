import type { Collection, Db } from 'mongodb';
import {
  type BudgetUse,
  type GuessBudget,
  type Reservation,
  type ReservationRequest,
  reserveGuesses,
} from '../../domain/guess-budget.js';
import { createStreamQueue } from '../../domain/stream-queue.js';
import type { BudgetName, Budgets } from '../../ports/budgets.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import type { MongoConnection } from './connection.js';
import { unlessDuplicate } from './mongo-error.js';

type BudgetDocument = BudgetUse & {
  /** The budget name and the application id. */
  readonly _id: string;
  readonly applicationId: string;
  /**
   * Increases by one with each write. A write succeeds only if the stored document still has the version that was read
   * before the write.
   */
  readonly version: number;
};

/**
 * The maximum number of attempts to reserve guesses. Conflicts are rare, because each process has at most one pending
 * write per document.
 */
const triesMax = 50;

/** Implements `Budgets` in the MongoDB database that contains the rows. */
export function mongoBudgets(connection: MongoConnection): Budgets {
  const budgets = (db: Db): Collection<BudgetDocument> => db.collection<BudgetDocument>('budgets');

  async function replace(stored: BudgetDocument | null, next: BudgetDocument): Promise<boolean> {
    if (stored === null) return unlessDuplicate(connection.call((db) => budgets(db).insertOne(next)));
    const { _id, version } = stored;
    const replaced = await connection.call((db) => budgets(db).replaceOne({ _id, version }, next));
    return replaced.matchedCount === 1;
  }

  async function reserveFrom(
    _id: string,
    applicationId: string,
    budget: GuessBudget,
    request: ReservationRequest,
  ): Promise<Reservation> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const stored = await connection.call((db) => budgets(db).findOne({ _id }));
      const { after, reservation } = reserveGuesses(stored, budget, request);
      const next = { _id, applicationId, version: (stored?.version ?? 0) + 1, ...after };
      if (await replace(stored, next)) return reservation;
    }
    throw new StoreUnavailable('mongodb', 'race_not_settled');
  }

  /** Within this process, reservations for the same document run one at a time. */
  const queue = createStreamQueue();

  return {
    reserve: (name, applicationId, budget, request) => {
      const _id = idOf(name, applicationId);
      return queue.run([_id], () => reserveFrom(_id, applicationId, budget, request));
    },
    async suspects(since) {
      const found = await connection.call((db) =>
        budgets(db)
          .find({ suspectAt: { $gte: since } })
          .sort({ suspectAt: -1 })
          .toArray(),
      );
      return found.map(({ applicationId, suspectAt }) => ({ applicationId, at: suspectAt ?? since }));
    },
  };
}

function idOf(name: BudgetName, applicationId: string): string {
  return `${name}:${applicationId}`;
}
