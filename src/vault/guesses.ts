import type { Caller } from '../domain/access/caller.js';
import type { BudgetName, Budgets } from '../ports/budgets.js';
import type { Clock } from '../ports/clock.js';
import type { Metrics } from '../ports/metrics.js';
import type { LimitSettings } from './limit-settings.js';
import { type BudgetEvents, reservedBudget } from './reserved-budget.js';
import type { Rejected, RejectionCode } from './result.js';

const hourMs = 3_600_000;
/** An application that uses more than this part of its deduplication misses without a hit is suspect. */
const suspectDivisor = 10;

/**
 * How often an application may look up what it does not know (docs/contract.md, "Operations routes"). Threat: short values such as social
 * security numbers, and card numbers of which ten digits are known, can be tried one by one.
 */
export type Guesses = {
  /**
   * The refusal if the guesses of the hour are used up, else null. Every response that tells whether a guess was right
   * asks this or `charge` after the look-up and before it leaves: refusing only the wrong guesses would tell which ones
   * are right.
   */
  refusal(caller: Caller): Promise<Rejected | null>;
  /** Spends guesses, durably; the refusal if fewer are left, which uses up the rest. */
  charge(caller: Caller, guesses: number): Promise<Rejected | null>;
  /** Spends deduplication misses, durably, before it is known which values are hits: those are given back. */
  chargeMisses(caller: Caller, values: number): Promise<ChargedMisses | Rejected>;
};

export type ChargedMisses = { readonly ok: true; hits(count: number): void };

/** What is recorded of an application that guesses. */
export type GuessRecords = {
  exhausted(caller: Caller, budget: BudgetName): Promise<void>;
  suspected(caller: Caller): Promise<void>;
};

type Needs = {
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

export function createGuesses(needs: Needs): Guesses {
  const { settings } = needs;
  const guesses = spender(needs, 'guesses', settings.guesses, null);
  const missesMax = settings.deduplicationMisses;
  const misses = spender(needs, 'deduplication_misses', missesMax, missesMax / suspectDivisor);
  return {
    async refusal(caller) {
      const taken = await guesses(caller, 0);
      return taken.ok ? null : taken;
    },
    async charge(caller, count) {
      if (count === 0) return null;
      const taken = await guesses(caller, count);
      return taken.ok ? null : taken;
    },
    chargeMisses: (caller, values) => misses(caller, values),
  };
}

/** Spends from one budget; without a limit everything is granted and nothing is stored, but it is counted. */
function spender(
  { budgets, settings, clock, metrics, records }: Needs,
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
