import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { GuessBudget, ReservationRequest } from '#src/domain/guess-budget.js';
import { atNoon, type OpenStores, onStores } from './support.js';

const hourMs = 3_600_000;
const budget: GuessBudget = { max: 100, windowMs: hourMs, suspectAbove: 10 };
const asks = (need: number, given: Partial<ReservationRequest> = {}): ReservationRequest => ({
  need,
  spare: 'block',
  hits: 0,
  now: atNoon,
  ...given,
});

/** Defines the tests that every adapter for `Budgets` must pass. */
export function budgetsContract(name: string, open: OpenStores): void {
  describe(`Budgets: ${name}`, () => {
    test(
      'concurrent blocks never exceed the budget, and exactly one caller learns that the budget is used up',
      onStores(open, async ({ budgets }) => {
        const application = randomUUID();
        const asked = Array.from({ length: 64 }, () => budgets.reserve('guesses', application, budget, asks(5)));
        const reservations = await Promise.all(asked);
        expect(reservations.reduce((sum, { granted }) => sum + granted, 0)).toBe(100);
        expect(reservations.filter(({ exhausts }) => exhausts)).toHaveLength(1);
        expect(new Set(reservations.map(({ endsAt }) => endsAt))).toEqual(new Set([atNoon + hourMs]));
      }),
    );

    test(
      'reservations survive a restart until the window ends',
      onStores(open, async ({ budgets, reopen }) => {
        const application = randomUUID();
        const first = await budgets.reserve('guesses', application, budget, asks(90));
        expect(first.granted).toBe(90);
        const again = await reopen();
        const late = atNoon + hourMs - 1;
        expect(await again.budgets.reserve('guesses', application, budget, asks(20, { now: late }))).toMatchObject({
          granted: 10,
          exhausts: true,
        });
        const next = asks(20, { now: atNoon + hourMs });
        expect(await again.budgets.reserve('guesses', application, budget, next)).toMatchObject({
          granted: 24,
          exhausts: false,
          endsAt: atNoon + 2 * hourMs,
        });
      }),
    );

    test(
      'two budgets of one application are counted separately, and so are the budgets of two applications',
      onStores(open, async ({ budgets }) => {
        const application = randomUUID();
        await budgets.reserve('guesses', application, budget, asks(100));
        const others = [
          budgets.reserve('deduplication_misses', application, budget, asks(100)),
          budgets.reserve('guesses', randomUUID(), budget, asks(100)),
        ];
        for (const { granted } of await Promise.all(others)) expect(granted).toBe(100);
      }),
    );

    test(
      'suspects are the applications that have had no hit since a given time, latest first',
      onStores(open, async ({ budgets }) => {
        const [one, other, honest] = [randomUUID(), randomUUID(), randomUUID()];
        const reserve = (application: string, need: number, given: object = {}) =>
          budgets.reserve('deduplication_misses', application, budget, asks(need, given));
        expect((await reserve(one, 11)).suspects).toBe(true);
        expect((await reserve(one, 11)).suspects).toBe(false);
        expect((await reserve(honest, 11, { hits: 1 })).suspects).toBe(false);
        expect((await reserve(other, 11, { now: atNoon + 5 })).suspects).toBe(true);
        const both = [
          { applicationId: other, at: atNoon + 5 },
          { applicationId: one, at: atNoon },
        ];
        expect(await budgets.suspects(atNoon)).toEqual(both);
        expect(await budgets.suspects(atNoon + 1)).toEqual(both.slice(0, 1));
      }),
    );
  });
}
