import type { Caller } from '../domain/access/caller.js';
import type { BudgetName, Budgets } from '../ports/budgets.js';
import type { Clock } from '../ports/clock.js';
import type { Metrics } from '../ports/metrics.js';
import type { LimitSettings } from './limit-settings.js';
import { type BudgetEvents, reservedBudget } from './reserved-budget.js';
import type { Rejected, RejectionCode } from './result.js';

const hourMs = 3_600_000;
/** An application is suspect if it uses more than 1/`suspectDivisor` of its deduplication-miss budget without a hit. */
const suspectDivisor = 10;

/**
 * Limits how often an application can look up values that it cannot read (docs/contract.md, "Guesses").
 * Threat: a caller tries values one by one, for example social security numbers, or card numbers of which it knows ten
 * digits.
 */
export type Guesses = {
  /**
   * Spends guesses durably. If too few guesses are left, uses up the remaining guesses and returns a rejection.
   *
   * Call this after each look-up, before the response reveals whether the guess was right. If all guesses were right,
   * charge 0: this spends nothing, but returns a rejection if the guesses for this hour are used up. If the vault
   * rejected only wrong guesses, the rejection would reveal that a guess was wrong.
   */
  charge(caller: Caller, guesses: number): Promise<Rejected | null>;
  /**
   * Spends deduplication misses durably. Call this before the hits are known, and report the hits later with the `hits`
   * function of the result.
   */
  chargeMisses(caller: Caller, values: number): Promise<ChargedMisses | Rejected>;
};

/**
 * `hits` reports that `count` of the values belong to a token, and refunds the charge for `free` of the values. Call
 * `hits` at most once.
 */
export type ChargedMisses = { readonly ok: true; hits(count: number, free: number): void };

/** Records which applications seem to be guessing values. */
export type GuessRecords = {
  exhausted(caller: Caller, budget: BudgetName): Promise<void>;
  suspected(caller: Caller): Promise<void>;
};

type Deps = {
  readonly budgets: Budgets;
  readonly settings: LimitSettings;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly records: GuessRecords;
};

const codes = {
  guesses: 'guesses_exhausted',
  deduplication_misses: 'deduplication_misses_exhausted',
} as const satisfies Record<BudgetName, RejectionCode>;

export function createGuesses(needs: Deps): Guesses {
  const { settings } = needs;
  const guesses = spender(needs, 'guesses', settings.guesses, null);
  const missesMax = settings.deduplicationMisses;
  const misses = spender(needs, 'deduplication_misses', missesMax, missesMax / suspectDivisor);
  return {
    async charge(caller, count) {
      const taken = await guesses(caller, count);
      return taken.ok ? null : taken;
    },
    chargeMisses: (caller, values) => misses(caller, values),
  };
}

/**
 * Charges the caller one guess for each id in the request that belongs to no token. Call this after the look-up, before
 * the response is sent. Returns a rejection if the caller has used up its guesses, even if all ids are known.
 */
export async function chargeUnknownIds(
  { guesses }: { readonly guesses: Guesses },
  caller: Caller,
  ids: number,
  unknown: number,
): Promise<Rejected | null> {
  return ids === 0 ? null : guesses.charge(caller, unknown);
}

/**
 * Returns a function that spends from one budget. If the budget has no limit, the function grants every request and
 * stores nothing. It always updates the metrics.
 */
function spender(
  { budgets, settings, clock, metrics, records }: Deps,
  name: BudgetName,
  max: number,
  suspectAbove: number | null,
): (caller: Caller, amount: number) => Promise<ChargedMisses | Rejected> {
  const granted: ChargedMisses = { ok: true, hits: () => undefined };
  const isUnlimited = settings.requests === 0 || max === 0;
  const events: BudgetEvents = {
    async exhausted(caller) {
      metrics.guessBudgetExhausted(name);
      await records.exhausted(caller, name);
    },
    async suspected(caller) {
      metrics.guessesSuspected(caller.applicationId);
      await records.suspected(caller);
    },
  };
  const budget = reservedBudget(budgets, name, { max, windowMs: hourMs, suspectAbove }, clock, events);
  return async (caller, amount) => {
    const taken = isUnlimited ? null : await budget.take(caller, amount);
    if (taken === null || taken.ok) {
      metrics.guessed(name, amount);
      return taken === null ? granted : { ok: true, hits: taken.giveBack };
    }
    metrics.rateLimited(name);
    return { ok: false, code: codes[name], retryAfterMs: taken.retryAfterMs };
  };
}
