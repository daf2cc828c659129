import { describe, expect, test } from 'vitest';
import type { CountStep, DailyCounts, DayCount } from '#src/ports/daily-counts.js';

type Open = () => Promise<{ readonly counts: DailyCounts; readonly close: () => Promise<void> }>;

function aCount(fields: Partial<DayCount> = {}): DayCount {
  return { tenantId: 'one', series: 'tokens', day: 20_000, name: 'card', what: 'created', count: 1, ...fields };
}

function aStep(fields: Partial<CountStep> = {}): CountStep {
  return { source: 'log', from: 0, to: 10, counts: [aCount()], ended: [], ...fields };
}

/** Defines the tests that every adapter for `DailyCounts` must pass. */
export function dailyCountsContract(name: string, open: Open): void {
  const on = (run: (counts: DailyCounts) => Promise<void>) => async () => {
    const { counts, close } = await open();
    try {
      await run(counts);
    } finally {
      await close();
    }
  };

  describe(`DailyCounts: ${name}`, () => {
    test(
      'adds counts by day, name and kind, and records the position of each source',
      on(async (counts) => {
        expect(await counts.positions()).toEqual(new Map());
        expect(await counts.add(aStep({ counts: [aCount({ count: 2 }), aCount({ what: 'deleted' })] }))).toBe(true);
        expect(await counts.add(aStep({ from: 10, to: 12, counts: [aCount({ count: 3 }), aCount({ day: 9 })] }))).toBe(
          true,
        );
        expect(await counts.add(aStep({ source: 'access/a', to: 5, counts: [] }))).toBe(true);
        expect(await counts.positions()).toEqual(
          new Map([
            ['access/a', 5],
            ['log', 12],
          ]),
        );
        expect(await counts.days('one', 'tokens', 0, 99_999)).toEqual([
          aCount({ day: 9 }),
          aCount({ count: 5 }),
          aCount({ what: 'deleted' }),
        ]);
      }),
    );

    test(
      'a step that does not begin at the position of its source changes nothing',
      on(async (counts) => {
        expect(await counts.add(aStep())).toBe(true);
        for (const from of [0, 9, 11]) {
          expect(await counts.add(aStep({ from, to: 20, counts: [aCount({ count: 7 })], ended: ['one'] }))).toBe(false);
        }
        expect(await counts.positions()).toEqual(new Map([['log', 10]]));
        expect(await counts.days('one', 'tokens', 0, 99_999)).toEqual([aCount()]);
      }),
    );

    test(
      'if several concurrent steps begin at the same position, only one is counted',
      on(async (counts) => {
        const steps = Array.from({ length: 4 }, () => counts.add(aStep()).catch(() => false));
        expect((await Promise.all(steps)).filter((added) => added)).toHaveLength(1);
        expect(await counts.days('one', 'tokens', 0, 99_999)).toEqual([aCount()]);
      }),
    );

    test(
      'for one tenant and series, returns the days in an inclusive range, and the totals before a day',
      on(async (counts) => {
        const days = [999, 1_000, 1_001, 1_002].map((day) => aCount({ day, count: day }));
        const others = [aCount({ tenantId: 'on' }), aCount({ tenantId: 'one0' }), aCount({ series: 'accesses' })];
        await counts.add(aStep({ counts: [...days, ...others, aCount({ day: 999, what: 'deleted', count: -4 })] }));
        const found = await counts.days('one', 'tokens', 1_000, 1_001);
        expect(found).toEqual(days.slice(1, 3));
        expect(await counts.totalsBefore('one', 'tokens', 1_001)).toEqual([
          { name: 'card', what: 'created', count: 1_999 },
          { name: 'card', what: 'deleted', count: -4 },
        ]);
        expect(await counts.totalsBefore('one', 'tokens', 999)).toEqual([]);
      }),
    );

    test(
      'a deleted tenant’s counts are removed, even those in the same step, and other tenants’ counts stay',
      on(async (counts) => {
        const others = [aCount({ tenantId: 'on' }), aCount({ tenantId: 'one0' })];
        await counts.add(aStep({ counts: [aCount(), aCount({ series: 'accesses' }), ...others] }));
        await counts.add(aStep({ from: 10, to: 11, counts: [aCount({ name: 'bank' })], ended: ['one'] }));
        for (const series of ['tokens', 'accesses'] as const) {
          expect(await counts.days('one', series, 0, 99_999)).toEqual([]);
        }
        for (const { tenantId } of others) expect(await counts.days(tenantId, 'tokens', 0, 99_999)).toHaveLength(1);
      }),
    );

    test(
      'a clear removes everything, and a step that began before the clear is not counted',
      on(async (counts) => {
        await counts.add(aStep());
        await counts.clear();
        expect(await counts.positions()).toEqual(new Map());
        expect(await counts.add(aStep({ from: 10, to: 11 }))).toBe(false);
        expect(await counts.days('one', 'tokens', 0, 99_999)).toEqual([]);
      }),
    );

    test(
      'if steps are counted during a clear, the counts still match the position afterwards',
      on(async (counts) => {
        const positionOf = async () => (await counts.positions()).get('log') ?? 0;
        const many = Array.from({ length: 10_000 }, (_, day) => aCount({ tenantId: 'other', day }));
        await counts.add(aStep({ source: 'access/a', counts: many }));
        let isCleared = false;
        const clearing = counts.clear().finally(() => {
          isCleared = true;
        });
        while (!isCleared) {
          const from = await positionOf();
          await counts.add(aStep({ from, to: from + 1 }));
        }
        await clearing;
        const counted = await counts.totalsBefore('one', 'tokens', 99_999);
        expect(counted[0]?.count ?? 0).toBe(await positionOf());
        expect(await counts.days('other', 'tokens', 0, 99_999)).toEqual([]);
      }),
    );
  });
}
