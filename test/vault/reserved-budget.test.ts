import { expect, test } from 'vitest';
import { type BudgetUse, reserveGuesses } from '#src/domain/guess-budget.js';
import type { Budgets } from '#src/ports/budgets.js';
import { reservedBudget } from '#src/vault/reserved-budget.js';
import { callerWith } from '../domain/access/arbitraries.js';
import { manualClock } from '../support/manual-clock.js';

const budget = { max: 100, windowMs: 3_600_000, suspectAbove: null };
const caller = callerWith();

/** Returns the budget as one process sees it, and a function with which another process reserves guesses. */
function sharedBudget() {
  const clock = manualClock();
  let use: BudgetUse | null = null;
  const budgets: Pick<Budgets, 'reserve'> = {
    async reserve(_name, _applicationId, given, request) {
      const { after, reservation } = reserveGuesses(use, given, request);
      use = after;
      return reservation;
    },
  };
  const events = { exhausted: async () => undefined, suspected: async () => undefined };
  const { take } = reservedBudget(budgets as Budgets, 'guesses', budget, clock, events);
  return {
    clock,
    isGranted: async (amount: number) => (await take(caller, amount)).ok,
    reserve: (need: number, now: number) =>
      budgets.reserve('guesses', caller.applicationId, budget, { need, spare: 'none', hits: 0, now }),
  };
}

test('if another process has begun a new window, guesses left from the old window are not added to it', async () => {
  const { clock, isGranted, reserve } = sharedBudget();
  expect(await isGranted(1)).toBe(true);
  clock.advance(budget.windowMs - 1);
  await reserve(budget.max - 10, clock.now() + 1);
  expect(await isGranted(10)).toBe(true);
  expect(await isGranted(1)).toBe(false);
});

test('if the clock is set back, an application is not rejected until the old window ends', async () => {
  const { clock, isGranted } = sharedBudget();
  expect(await isGranted(budget.max)).toBe(true);
  expect(await isGranted(1)).toBe(false);
  clock.step(-2 * budget.windowMs);
  expect(await isGranted(1)).toBe(true);
});
