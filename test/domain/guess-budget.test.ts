import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BudgetUse, reserveGuesses } from '#src/domain/guess-budget.js';

const windowMs = 3_600_000;
const asks = (need: number, now: number, given: object = {}) => ({
  need,
  spare: 'block' as const,
  hits: 0,
  now,
  marginMs: 0,
  ...given,
});

test('a window never grants more than the budget, whatever the sequence of requests is', () => {
  const needs = fc.array(fc.record({ need: fc.integer({ min: 1, max: 70 }), afterMs: fc.nat(600_000) }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), needs, (max, steps) => {
      const granted = new Map<number, number>();
      let use: BudgetUse | null = null;
      let now = 0;
      for (const { need, afterMs } of steps) {
        now += afterMs;
        const { after, reservation } = reserveGuesses(use, { max, windowMs, suspectAbove: null }, asks(need, now));
        const sum = (granted.get(reservation.endsAt) ?? 0) + reservation.granted;
        granted.set(reservation.endsAt, sum);
        expect(sum).toBeLessThanOrEqual(max);
        expect(after.used).toBe(sum);
        use = after;
      }
    }),
  );
});

test('a request that needs more than the rest uses up the budget, and only the first such request is reported', () => {
  const budget = { max: 10, windowMs, suspectAbove: null };
  const first = reserveGuesses(null, budget, asks(11, 0));
  expect(first.reservation).toMatchObject({ granted: 10, exhausts: true });
  const second = reserveGuesses(first.after, budget, asks(1, 1));
  expect(second.reservation).toMatchObject({ granted: 0, exhausts: false });
  expect(reserveGuesses(second.after, budget, asks(1, windowMs)).reservation).toMatchObject({ granted: 1 });
});

test('a caller that asks for no spare uses gets exactly what it needs', () => {
  const budget = { max: 1_000, windowMs, suspectAbove: null };
  expect(reserveGuesses(null, budget, asks(1, 0)).reservation.granted).toBe(50);
  expect(reserveGuesses(null, budget, asks(1, 0, { spare: 'none' })).reservation.granted).toBe(1);
});

test('clocks that differ by less than the margin share a window, and a clock that was set back begins another window', () => {
  const budget = { max: 10, windowMs, suspectAbove: null };
  const { after } = reserveGuesses(null, budget, asks(10, 10_000));
  expect(reserveGuesses(after, budget, asks(1, 9_000, { marginMs: 2_000 })).reservation.granted).toBe(0);
  expect(reserveGuesses(after, budget, asks(1, 7_000, { marginMs: 2_000 })).reservation.granted).toBe(1);
});
